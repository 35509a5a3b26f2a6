// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/top/tag_feed.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include "command/pcp/recorded_host.hpp"

namespace pcp::trace::command {

namespace {

constexpr Duration kRetry = std::chrono::seconds(1);
constexpr Duration kHaste = std::chrono::milliseconds(500);  // for the first values
constexpr Duration kQuiet = std::chrono::seconds(3);         // until the user is told

// Leaves out what is long and not shown.
bool is_wanted(const RecordedQuantity& what, bool with_histograms) {
  if (what.quantity != Quantity::Histogram) return what.quantity != Quantity::Rate;
  return with_histograms && what.ending == Ending::Completed;
}

}  // namespace

// Thread: one at a time, of a reading.
class TagFeed::Reader {
 public:
  // `has_distributions`: see RecentTags.
  Reader(std::unique_ptr<SampleSource> source, bool is_archive, bool has_distributions)
      : source_(std::move(source)), is_archive_(is_archive), tags_(*source_, has_distributions) {}

  Answer read(const std::optional<TagKey>& about) try {
    Result<std::optional<Recent>> recent = tags_.next();
    while (is_archive_ && recent && !*recent && !tags_.is_over()) recent = tags_.next();
    if (!recent) return {.trouble = recent.error().message, .is_over = is_archive_};
    Answer answer{.recent = *std::move(recent), .is_over = tags_.is_over()};
    if (answer.is_over) answer.trouble = tags_.changes().why_incomplete();
    if (const auto& started = tags_.changes().started())
      answer.agent.emplace(source_->host(), *started);
    if (answer.recent) answer.recent->hosts = {source_->host()};
    if (about) answer.detail = detail_of(*about);
    return answer;
  } catch (const std::exception& fault) {
    return {.trouble = fault.what()};
  }

 private:
  TagDetail detail_of(const TagKey& tag) {
    TagDetail detail{.host = source_->host()};
    if (is_archive_) detail.histogram = tags_.text_of(tag);
    const pmInDom domain = source_->domain_of(tag.first);
    const Instances tags = source_->instances(domain, false);
    const auto its = std::ranges::find(tags, tag.second, &Instances::value_type::second);
    if (its == tags.end()) return detail;
    const OwnedLabels labels = labels_of_instances(domain);
    for (const pmLabelSet& set : labels.all())
      if (static_cast<int>(set.inst) == its->first) detail.labels = set.json;
    if (!is_archive_ && has_histogram(tag.first))
      ask_host(domain, its->first, tag.first == TraceType::Transact, detail);
    return detail;
  }

  static void ask_host(pmInDom domain, int tag, bool is_transaction, TagDetail& detail) {
    pmDelProfile(domain, 0, nullptr);
    pmAddProfile(domain, 1, &tag);
    detail.histogram = read_texts_of(is_transaction ? "tracing.histogram.transact"
                                                    : "tracing.histogram.observe")[tag];
    if (is_transaction) {
      detail.oldest_s = read_numbers_of("trace.transact.oldest")[tag];
      detail.where = read_texts_of("trace.transact.oldest_where")[tag];
    }
    pmAddProfile(domain, 0, nullptr);
  }

  const std::unique_ptr<SampleSource> source_;
  const bool is_archive_;
  RecentTags tags_;
};

TagFeed::TagFeed(const std::vector<std::string>& hosts, std::optional<Duration> interval,
                 std::unique_ptr<SampleSource> archive)
    : interval_(interval),
      bell_(std::make_shared<Descriptor>(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
  if (!*bell_) throw std::system_error(errno, std::generic_category(), "eventfd");
  const bool are_several = hosts.size() > 1;
  if (archive)
    hosts_.push_back({std::make_shared<Reader>(std::move(archive), true, false), "the archive"});
  for (const std::string& host : hosts) {
    auto source = std::make_unique<RecordedHost>(
        host, [=](const auto& what) { return is_wanted(what, are_several); });
    hosts_.push_back(
        {std::make_shared<Reader>(std::move(source), false, are_several), shown_host(host)});
  }
}

std::optional<Recent> TagFeed::take(bool is_paused) {
  eventfd_t rung = 0;
  ::eventfd_read(bell_->get(), &rung);
  for (Host& host : hosts_)
    if (host.next.valid() && host.next.wait_for(Duration::zero()) == std::future_status::ready)
      note(host);
  due_ = Instant::max();
  if (is_paused) return {};
  std::optional<Recent> recent = sum();
  for (Host& host : hosts_) {
    const bool lacks_detail = opened_ && host.last.about != opened_;
    const bool is_at_end = host.last.is_over && !lacks_detail;
    if (host.next.valid() || host.last.recent || is_at_end) continue;
    if (lacks_detail || host.asked <= steady_now())
      ask(host);
    else
      due_ = std::min(due_, host.asked);
  }
  return recent;
}

void TagFeed::ask(Host& host) {
  host.asked = steady_now();
  std::packaged_task<Answer()> task([reader = host.reader, about = opened_] {
    Answer answer = reader->read(about);
    answer.about = about;
    return answer;
  });
  host.next = task.get_future();
  std::thread([task = std::move(task), bell = bell_]() mutable {
    task();
    ::eventfd_write(bell->get(), 1);
  }).detach();
}

void TagFeed::note(Host& host) {
  Answer answer = host.next.get();
  host.has_worked |= answer.trouble.empty();
  Duration pause = answer.trouble.empty() ? kHaste : kRetry;
  if (answer.recent)
    pause = interval_.value_or(std::chrono::duration_cast<Duration>(
        std::chrono::duration<double>(answer.recent->elapsed_s)));
  host.asked = std::max(host.asked + std::min(pause, interval_.value_or(pause)), steady_now());
  host.last = std::move(answer);
}

// Nothing until each host has been read, or is in trouble.
std::optional<Recent> TagFeed::sum() {
  std::vector<Recent> all;
  for (const Host& host : hosts_)
    if (!host.last.recent && trouble_of(host).empty()) return {};
  for (Host& host : hosts_)
    if (std::optional<Recent> its = std::exchange(host.last.recent, {}); its && !same_as(host))
      all.push_back(*std::move(its));
  return all.empty() ? std::nullopt : std::optional(sum_of_hosts(std::move(all)));
}

std::vector<TagDetail> TagFeed::details() const {
  std::vector<TagDetail> all;
  for (const Host& host : hosts_)
    if (host.last.detail && host.last.about == opened_ && !same_as(host))
      all.push_back(*host.last.detail);
  return all;
}

// The earlier host whose agent is this host's, under another name: its calls count once.
const TagFeed::Host* TagFeed::same_as(const Host& host) const {
  if (!host.last.agent) return nullptr;
  const auto first =
      std::ranges::find(hosts_, host.last.agent, [](const Host& each) { return each.last.agent; });
  return &*first == &host ? nullptr : &*first;
}

std::string TagFeed::trouble_of(const Host& host) const {
  if (!host.last.trouble.empty()) return host.name + ": " + host.last.trouble;
  if (const Host* const other = same_as(host))
    return host.name + ": has the agent of " + other->name + ", which counts once; leave one out";
  const bool is_silent = host.next.valid() && steady_now() - host.asked >= kQuiet;
  return is_silent ? host.name + ": no answer yet; pmcd or its trace agent may be stopped" : "";
}

std::vector<std::string> TagFeed::troubles() const {
  std::vector<std::string> all;
  for (const Host& host : hosts_)
    if (std::string trouble = trouble_of(host); !trouble.empty()) all.push_back(std::move(trouble));
  return all;
}

bool TagFeed::is_over() const {
  return std::ranges::all_of(hosts_, [](const Host& host) {
    const bool cannot_begin = !host.has_worked && !host.last.trouble.empty();
    return !host.last.recent && (host.last.is_over || cannot_begin);
  });
}

}  // namespace pcp::trace::command
