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

// Only the quantities that are shown.
bool is_wanted(const RecordedQuantity& what, bool with_histograms) {
  if (what.quantity == Quantity::Histogram)
    return with_histograms && what.ending == Ending::Completed;
  return is_of_tags(what.quantity)
             ? what.quantity != Quantity::Rate
             : what.quantity < Quantity::Folded || what.quantity >= Quantity::WholePeriod;
}

}  // namespace

// Thread: one at a time, of a reading.
class TagFeed::Reader {
 public:
  explicit Reader(std::unique_ptr<SampleSource> archive)
      : source_(std::move(archive)), tags_(*source_, false) {}

  Reader(const std::string& host, bool is_one_of_several)
      : source_(std::make_unique<RecordedHost>(
            host, [=](const auto& what) { return is_wanted(what, is_one_of_several); })),
        host_(static_cast<RecordedHost*>(source_.get())),
        tags_(*source_, is_one_of_several) {}

  Answer read(const std::optional<TagKey>& about) try {
    Result<std::optional<Recent>> recent = tags_.next();
    while (host_ == nullptr && recent && !*recent && !tags_.is_over()) recent = tags_.next();
    if (!recent) return {.trouble = recent.error().message, .is_over = host_ == nullptr};
    Answer answer{.recent = *std::move(recent), .is_over = tags_.is_over()};
    if (answer.is_over) answer.trouble = tags_.why_incomplete();
    if (tags_.started()) answer.agent.emplace(source_->host(), *tags_.started());
    if (answer.recent) answer.recent->hosts = {source_->host()};
    if (about) answer.detail = detail_of(*about);
    return answer;
  } catch (const std::exception& fault) {
    return {.trouble = fault.what()};
  }

 private:
  TagDetail detail_of(const TagKey& tag) {
    const pmInDom domain = source_->domain_of(tag.first);
    const std::pair at(tag, host_ == nullptr ? 0 : host_->connections());
    // Another agent may number its tags anew. Looking a number up takes long.
    if (std::exchange(found_at_, at) != at || !number_) {
      number_.reset();
      detail_ = {.host = source_->host()};
      for (const auto& [number, name] : source_->instances(domain, false))
        if (name == tag.second) number_ = number;
      const OwnedLabels labels = labels_of_instances(domain);
      for (const pmLabelSet& set : labels.all())
        if (static_cast<int>(set.inst) == number_) detail_.labels = set.json;
    }
    if (host_ == nullptr)
      detail_.histogram = tags_.text_of(tag);
    else if (number_ && has_histogram(tag.first))
      ask_host(domain, tag.first == TraceType::Transact);
    return detail_;
  }

  void ask_host(pmInDom domain, bool is_transaction) {
    host_->pcp_host().use();
    pmDelProfile(domain, 0, nullptr);
    pmAddProfile(domain, 1, &*number_);  // only this tag
    detail_.histogram = read_texts_of(is_transaction ? "tracing.histogram.transact"
                                                     : "tracing.histogram.observe")[*number_];
    if (is_transaction) {
      detail_.oldest_s = read_numbers_of("trace.transact.oldest")[*number_];
      detail_.where = read_texts_of("trace.transact.oldest_where")[*number_];
    }
    pmAddProfile(domain, 0, nullptr);
  }

  const std::unique_ptr<SampleSource> source_;
  RecordedHost* const host_ = nullptr;  // null: an archive
  RecentTags tags_;
  TagDetail detail_;
  std::optional<int> number_;               // of its tag
  std::pair<TagKey, unsigned> found_at_{};  // at this connection
};

TagFeed::TagFeed(const std::vector<std::string>& hosts, std::optional<Duration> interval,
                 std::unique_ptr<SampleSource> archive)
    : interval_(interval),
      bell_(std::make_shared<Descriptor>(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
  if (!*bell_) throw std::system_error(errno, std::generic_category(), "eventfd");
  if (archive) hosts_.push_back({std::make_shared<Reader>(std::move(archive)), "the archive"});
  for (const std::string& host : hosts)
    hosts_.push_back({std::make_shared<Reader>(host, hosts.size() > 1), shown_host(host)});
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
    const bool is_at_end = host.last.is_over && host.about == opened_;
    if (host.next.valid() || host.last.recent || is_at_end) continue;
    if (host.asked <= steady_now())
      ask(host);
    else
      due_ = std::min(due_, host.asked);
  }
  return recent;
}

void TagFeed::ask(Host& host) {
  host.asked = steady_now();
  host.about = opened_;
  std::packaged_task<Answer()> task(
      [reader = host.reader, about = opened_] { return reader->read(about); });
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
  if (host.about == opened_) return;
  host.last.detail.reset();
  if (opened_) host.asked = steady_now();
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

void TagFeed::open(const std::optional<TagKey>& tag) {
  opened_ = tag;
  for (Host& host : hosts_) {
    host.last.detail.reset();
    if (tag && !host.next.valid()) host.asked = steady_now();
  }
}

std::vector<TagDetail> TagFeed::details() const {
  std::vector<TagDetail> all;
  for (const Host& host : hosts_)
    if (host.last.detail && !same_as(host)) all.push_back(*host.last.detail);
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
