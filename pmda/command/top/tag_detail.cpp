// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/top/tag_detail.hpp"

#include <algorithm>
#include <utility>

#include "collector/engine/cumulative_histogram.hpp"
#include "command/run/histogram_slices.hpp"
#include "command/show/summary_table.hpp"
#include "command/show/waterfall.hpp"
#include "wire/capture_filter.hpp"
#include "wire/dimensions.hpp"
#include "wire/histogram_codec.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::size_t kMostTraces = 5;
constexpr std::size_t kMostBars = 12;

using Bar = std::pair<bins::Edges, std::uint64_t>;

std::vector<Bar> bars_of(Histogram values) {
  for (std::vector<Bar> bars;; bars.clear(), values.coarsen()) {
    std::string packed;
    values.pack(packed);
    for_each_packed_bin(packed, [&](std::int32_t bin, std::uint64_t count) {
      bars.emplace_back(bins::edges_of(bin, values.coarseness()), count);
    });
    if (bars.size() <= kMostBars || values.coarseness() == Histogram::kMaxCoarseness) return bars;
  }
}

void add_bars(std::vector<std::string>& lines, TraceType type,
              const std::vector<TagDetail>& details, const Shown& shown) {
  Histogram sum;
  std::optional<WallTime> since;
  for (const TagDetail& each : details)
    if (const auto values = agent::parse_cumulative_histogram(each.histogram)) {
      sum.merge(values->histogram);
      since = std::max(since, since_of(each.histogram));
    }
  if (!since) return;
  lines.push_back(shown.bold("Distribution since " + Shown::date(*since)));
  if (sum.empty())
    lines.emplace_back("  no values yet: the agent adds them after each of its intervals");
  const std::vector<Bar> bars = bars_of(std::move(sum));
  std::uint64_t most = 1;
  for (const auto& [edges, count] : bars) most = std::max(most, count);
  const std::size_t room = room_after(shown.terminal().columns, 34);
  for (const auto& [edges, count] : bars) {
    std::string& line =
        lines.emplace_back(Shown::right(shown.value(type, edges.least), 10) + " to " +
                           Shown::left(shown.value(type, edges.greatest), 9) +
                           Shown::right(Shown::count(static_cast<double>(count)), 8) + " ");
    for (std::size_t i = 0; i <= room * count / most; ++i) line += shown.sign("▇", "#");
  }
}

// The filter of transactions that take at least so long.
std::string slow_ones(const std::string& tag, double slower_s) {
  wire::CaptureFilter filter;
  // Labels that come at the end are no part of what programs capture.
  filter.tags.push_back(Glob::exactly(bare_name(tag)));
  // Whole microseconds are easier to read.
  filter.slower_ns = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(slower_s * 1e6) * 1000,
                                               1000, wire::kMaxSlowerNs);
  filter.limit = 100;
  return wire::text_of(filter);
}

}  // namespace

std::vector<std::string> detail_lines(const TagKey& key, const Tag* tag,
                                      const std::vector<TagDetail>& details, const Shown& shown) {
  const std::size_t columns = shown.terminal().columns;
  std::vector<std::string> lines{shown.bold(shown.name(key.second, columns))};
  std::string line;
  for (const FigureRow& row : kFigures) {
    const std::string_view word = row.word.empty() ? row.summary.sort : row.word;
    if (tag == nullptr || !value_of(*tag, row.figure)) continue;
    line += "  " + std::string(word) + " " + shown_figure(row.figure, *tag, shown);
  }
  lines.push_back(tag == nullptr ? "  no values now" : line);
  for (const TagDetail& each : details) {
    const std::string host = details.size() > 1 ? " on " + shown.name(each.host, 30) : "";
    if (!each.labels.empty())
      lines.push_back("  labels" + host + " " +
                      shown.name(each.labels, room_after(columns, 9 + host.size())));
    if (each.oldest_s > 0)
      lines.push_back("  open" + host + " for up to " + shown.duration(each.oldest_s) +
                      ", the oldest in process/thread " + shown.name(each.where, 30));
  }
  add_bars(lines, key.first, details, shown);
  return lines;
}

SlowSpans::SlowSpans(const std::vector<std::string>& hosts, const std::string& tag, double slower_s)
    : hosts_(hosts), tag_(tag), filter_(slow_ones(tag, slower_s)), feed_(hosts, filter_) {}

std::vector<std::string> SlowSpans::lines(const Shown& shown) {
  const std::size_t columns = shown.terminal().columns;
  const Instant now = steady_now();
  for (HostNews& news : feed_.take()) {
    if (!news.told.empty()) told_.push_back(shown_host(hosts_[news.host]) + news.told);
    for (SpanEvent& span : news.spans) assembly_.add(std::move(span), now);
  }
  for (SpanTrace& trace : assembly_.take_finished(now))
    if (std::ranges::find(trace.spans, tag_, &SpanEvent::tag) != trace.spans.end())
      traces_.push_front(std::move(trace));
  traces_.resize(std::min(traces_.size(), kMostTraces));
  std::vector<std::string> lines{
      shown.bold("Slow ones: capturing " + shown.name(filter_, room_after(columns, 22)))};
  for (const std::string& each : told_) lines.push_back("  " + shown.beginning(each, each.npos));
  if (traces_.empty() && told_.empty()) lines.emplace_back("  none yet");
  for (const SpanTrace& trace : traces_)
    std::ranges::move(lines_of(waterfall(trace, shown, 10)), std::back_inserter(lines));
  return lines;
}

}  // namespace pcp::trace::command
