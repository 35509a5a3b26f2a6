// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/span_monitors.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>
#include <vector>

#include "collector/spans/capture_table.hpp"
#include "collector/spans/span_text.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::agent {

namespace {

constexpr std::size_t kUsualFetch = 128 * 1024;
constexpr std::size_t kLeastFetch = 32 * 1024;  // more than the largest span needs
constexpr std::size_t kMostFetch = 8u << 20;    // PCP's values have a 24-bit length

// pmcd's Unix socket buffers some 180 KB. With a larger answer pmcd would wait for a monitor
// that does not read, and all other monitors would wait, too.
constexpr std::size_t kMostThroughSocket = 160 * 1024;

constexpr std::uint64_t kLeastMemory = 1u << 20;

// Traces in a value of tracing.wanted.
constexpr std::size_t kMostWanted = 1'000;
constexpr std::size_t kMostWantedASecond = 2'000;  // that a monitor stores
constexpr char kIsBrought = '+';                   // behind a hash

// pmlogger fetches every minute by default.
constexpr std::uint32_t kUsualIdle = 90;
constexpr std::uint32_t kMostIdle = 86'400;

}  // namespace

SpanMonitors::SpanMonitors(SharedSpans& spans, const Privileges& privileges, std::string filter,
                           LogLine log)
    : spans_(spans),
      privileges_(privileges),
      common_filter_(std::move(filter)),
      log_(log),
      fetch_bytes_(kUsualFetch),
      idle_(std::chrono::seconds(kUsualIdle)) {}

SpanAsker SpanMonitors::asker(Instant now) {
  Asking& asking = monitors_[asking_];
  asking.asked_at = now;
  if (asking.monitor == nullptr && !filter_of(asking).empty()) {
    const int status = begin(asking_, filter_of(asking), asking, now);
    if (status < 0) return {nullptr, status, 0};
  }
  const bool is_local = privileges_.is_of_this_host(asking_);
  return {asking.monitor.get(), 0,
          is_local ? std::min(fetch_bytes_, kMostThroughSocket) : fetch_bytes_};
}

int SpanMonitors::begin(int context, const std::string& filter, Asking& asking, Instant now) {
  const std::optional<Audience> audience = privileges_.may_see_spans_of(context);
  if (!audience) return PM_ERR_PERMISSION;
  // The same filter again keeps the spans that wait.
  if (asking.monitor != nullptr && asking.captured == filter && asking.audience == *audience) {
    asking.asked_at = now;
    return 0;
  }
  std::string captured = filter;
  auto monitor = spans_.capture(filter, *audience);
  if (monitor == nullptr) {
    const bool has_all = spans_.captures()->has_all_of_a_uid(*audience);
    log_.say(std::string("spans are not captured for a monitor: ") +
                 (has_all ? "its user already has the maximum number of filters"
                          : "too many different filters"),
             now);
    return has_all ? -EDQUOT : -EUSERS;
  }
  asking.monitor = std::move(monitor);
  asking.captured = std::move(captured);
  asking.audience = *audience;
  asking.asked_at = now;
  return 0;
}

SpanControls SpanMonitors::controls() const {
  SpanControls controls;
  controls.filter = common_filter_;
  controls.fetch_bytes = static_cast<std::uint32_t>(fetch_bytes_);
  controls.memory_bytes = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(spans_.most_bytes(), std::uint32_t{0xffffffff}));
  controls.idle_s =
      static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::seconds>(idle_).count());
  const auto found = monitors_.find(asking_);
  if (found == monitors_.end()) return controls;
  controls.lapses = found->second.lapses;
  if (found->second.monitor != nullptr)
    controls.backlog = static_cast<std::uint32_t>(found->second.monitor->waiting());
  return controls;
}

// One that another monitor has brought has a sign, which the others store with it.
std::string SpanMonitors::take_wanted() {
  const auto found = monitors_.find(asking_);
  if (found == monitors_.end() || found->second.monitor == nullptr) return {};
  std::string text;
  for (const PassedTrace& trace : found->second.monitor->take_wanted(kMostWanted)) {
    if (!text.empty()) text += ' ';
    text += hex_of(trace.hash).data();
    if (trace.monitors > 1) text += kIsBrought;
  }
  return text;
}

int SpanMonitors::store_wanted(int context, std::string_view text, Instant now) {
  const auto found = monitors_.find(context);
  if (found == monitors_.end() || found->second.monitor == nullptr) return PM_ERR_PERMISSION;
  std::vector<PassedTrace> traces;
  while (!text.empty()) {
    PassedTrace& trace = traces.emplace_back();
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), trace.hash, 16);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    trace.monitors = text.starts_with(kIsBrought) ? 2 : 1;
    text.remove_prefix(trace.monitors - 1);
    const bool is_end = text.empty() || text.starts_with(' ');
    if (error != std::errc() || !is_end || traces.size() > kMostWanted) return PM_ERR_BADSTORE;
    if (!text.empty()) text.remove_prefix(1);
  }
  Asking& asking = found->second;
  if (now - asking.wanted_since >= std::chrono::seconds(1)) {
    asking.wanted_since = now;
    asking.wanted = 0;
  }
  asking.wanted += traces.size();
  if (asking.wanted > kMostWantedASecond) return -EDQUOT;
  asking.monitor->want(traces);
  return 0;
}

int SpanMonitors::store_own_filter(int context, const std::string& text, Instant now) {
  if (!privileges_.may_see_spans_of(context)) return PM_ERR_PERMISSION;
  Result<std::string> filter = canonical(text);
  if (!filter) {
    log_.say("a monitor's filter: " + filter.error().message, now);
    return PM_ERR_BADSTORE;
  }
  Asking& asking = monitors_[context];
  const std::string& seen = filter->empty() ? common_filter_ : *filter;
  if (seen.empty()) {
    asking.monitor.reset();
  } else if (const int status = begin(context, seen, asking, now); status < 0) {
    return status;
  }
  asking.has_own = !filter->empty();
  asking.filter = std::move(*filter);
  return 0;
}

// Monitors without an own filter switch to the new one.
int SpanMonitors::store_common_filter(const std::string& text, Instant now) {
  const Result<std::string> filter = canonical(text);
  if (!filter) {
    log_.say("tracing.control.filter: " + filter.error().message, now);
    return PM_ERR_BADSTORE;
  }
  common_filter_ = *filter;
  for (auto& [context, asking] : monitors_) {
    if (asking.has_own || asking.monitor == nullptr) continue;
    const Instant asked_at = asking.asked_at;
    if (common_filter_.empty() || begin(context, common_filter_, asking, now) < 0)
      asking.monitor.reset();
    asking.asked_at = asked_at;
  }
  return 0;
}

int SpanMonitors::store_fetch_bytes(std::uint64_t bytes) {
  if (bytes < kLeastFetch || bytes > kMostFetch) return PM_ERR_BADSTORE;
  fetch_bytes_ = bytes;
  return 0;
}

int SpanMonitors::store_memory(std::uint64_t bytes) {
  if (bytes < kLeastMemory) return PM_ERR_BADSTORE;
  spans_.set_most_bytes(bytes);
  return 0;
}

int SpanMonitors::store_idle(std::uint64_t seconds) {
  if (seconds < 1 || seconds > kMostIdle) return PM_ERR_BADSTORE;
  idle_ = std::chrono::seconds(seconds);
  return 0;
}

// Blank text is the empty filter.
Result<std::string> SpanMonitors::canonical(const std::string& text) {
  if (text.find_first_not_of(' ') == text.npos) return std::string();
  return canonical_filter(text);
}

std::optional<Instant> SpanMonitors::end_idle(Instant now) {
  std::optional<Instant> next;
  for (auto& [context, asking] : monitors_) {
    if (asking.monitor == nullptr) continue;
    const Instant due = asking.asked_at + idle_;
    if (due <= now) {
      asking.monitor.reset();
      ++asking.lapses;
    } else {
      next = std::min(next.value_or(due), due);
    }
  }
  return next;
}

}  // namespace pcp::trace::agent
