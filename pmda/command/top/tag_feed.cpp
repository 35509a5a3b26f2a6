// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/top/tag_feed.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

#include "command/pcp/recorded_host.hpp"

namespace pcp::trace::command {

namespace {

constexpr Duration kRetry = std::chrono::seconds(1);
constexpr Duration kHaste = std::chrono::milliseconds(500);  // for the first values
constexpr Duration kLookAgain =
    std::chrono::milliseconds(250);                   // at silent hosts, and the terminal
constexpr Duration kQuiet = std::chrono::seconds(3);  // until the user is told

// Leaves out what is long and not shown.
bool is_wanted(const RecordedQuantity& what, bool with_histograms) {
  if (what.quantity != Quantity::Histogram) return what.quantity != Quantity::Rate;
  return with_histograms && what.ending == Ending::Completed;
}

}  // namespace

TagFeed::TagFeed(const std::vector<std::string>& hosts, std::optional<Duration> interval,
                 std::unique_ptr<SampleSource> archive)
    : interval_(interval),
      bell_(std::make_shared<Descriptor>(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))) {
  if (!*bell_) throw std::system_error(errno, std::generic_category(), "eventfd");
  if (archive)
    hosts_.push_back(
        {std::make_shared<RecentTags>(std::move(archive), true, false), "the archive"});
  const bool are_several = hosts.size() > 1;
  for (const std::string& host : hosts) {
    auto source = std::make_unique<RecordedHost>(
        host, [=](const auto& what) { return is_wanted(what, are_several); });
    hosts_.push_back(
        {std::make_shared<RecentTags>(std::move(source), false, are_several), shown_host(host)});
  }
}

std::optional<Recent> TagFeed::take(bool is_paused) {
  eventfd_t rung = 0;
  ::eventfd_read(bell_->get(), &rung);
  for (Host& host : hosts_)
    if (host.next.valid() && host.next.wait_for(Duration::zero()) == std::future_status::ready)
      note(host);
  due_ = steady_now() + kLookAgain;
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
  std::packaged_task<TagReading()> task([tags = host.tags, about = opened_] {
    TagReading reading = tags->read(about);
    reading.about = about;
    return reading;
  });
  host.next = task.get_future();
  std::thread([task = std::move(task), bell = bell_]() mutable {
    task();
    ::eventfd_write(bell->get(), 1);
  }).detach();
}

void TagFeed::note(Host& host) {
  TagReading& its = host.last = host.next.get();
  if (!its.agent) its.agent.emplace(host.name, 0);
  host.has_worked |= its.trouble.empty();
  Duration pause = its.trouble.empty() ? kHaste : kRetry;
  if (its.recent)
    pause = interval_.value_or(
        std::chrono::duration_cast<Duration>(std::chrono::duration<double>(its.recent->elapsed_s)));
  host.asked = std::max(host.asked + std::min(pause, interval_.value_or(pause)), steady_now());
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

// The earlier host with the same agent: its calls count once.
const TagFeed::Host* TagFeed::same_as(const Host& host) const {
  const auto is_same = [&](const Host& each) { return each.last.agent == host.last.agent; };
  const Host& first = *std::ranges::find_if(hosts_, is_same);
  return &first == &host || !host.last.agent ? nullptr : &first;
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
