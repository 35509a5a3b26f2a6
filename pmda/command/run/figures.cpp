// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/figures.hpp"

#include <algorithm>

#include "command/run/groups.hpp"

namespace pcp::trace::command {

namespace {

using FigureValue = std::optional<double>;
using FigureUnit = FigureRow::Unit;

// An archive that has no failed calls has completed ones only.
FigureValue completed_calls(const Tag& tag) {
  if (tag.type != TraceType::Transact) return {};
  return tag.calls - tag.failed.value_or(0);
}

FigureValue share_of_failed(const Tag& tag) {
  if (!tag.failed || tag.calls == 0) return {};
  return 100 * *tag.failed / tag.calls;  // in this order rounded once
}

// Agents give no 75th percentile; nothing: the tag has no distribution.
FigureValue p75_of(const Tag& tag) {
  if (tag.percentile_source == PercentileSource::OneValue) return value_of(tag.max);
  if (!is_of_histogram(tag.percentile_source)) return {};
  return quantile_in(tag, 0.75);
}

template <std::size_t index>
FigureValue percentile_at(const Tag& tag) {
  return tag.percentiles[index];
}

constexpr auto kCount = FigureRow::Kind::Count;
constexpr auto kSum = FigureRow::Kind::Sum;
constexpr auto kSpread = FigureRow::Kind::Spread;
constexpr auto kOther = FigureRow::Kind::Other;
constexpr Types kTimed = kDistributions;
constexpr Types kValues = type_bit(TraceType::Observe) | kCounters;
constexpr double kNoQuantile = std::numeric_limits<double>::quiet_NaN();

}  // namespace

// clang-format off
constexpr std::array<FigureRow, kFigureCount> kFigures{{
    {Figure::Calls, "calls", "calls", [](const Tag& tag) -> FigureValue { return tag.calls; },
     kAllTypes, kAllTypes, kCount, FigureUnit::Count,
     {"calls", "values", "calls"}, {.sort = "calls", .width = 8}, 9,
     {.title = "Calls", .help = "How often, in all", .dropped = 2, .dropped_compared = 3,
      .label = "calls", .place = 1}},
    {Figure::Rate, "rate", "rate", [](const Tag& tag) { return tag.rate; },
     kAllTypes, kAllTypes, kOther, FigureUnit::Rate,
     {"/s", "/s", "/s"}, {.sort = "rate", .width = 8, .dropped = 1}, 0,
     {.title = "Per second", .help = "Calls per second, over the run", .dropped = 7,
      .label = "rate", .place = 2, .why_unknown = "no time has passed"}},
    {Figure::Completed, "completed", "completed", completed_calls,
     kTransactions, kTransactions, kCount, FigureUnit::Count, {}, {}, 0,
     {.label = "completed", .place = 3}},
    {Figure::Failed, "failed", "failed", [](const Tag& tag) { return tag.failed; },
     kTransactions, kTransactions, kCount, FigureUnit::Count,
     {"failed"}, {.sort = "failed", .width = 7}, 1,
     {.label = "failed", .place = 4}},
    {Figure::FailedShare, "failed%", "", share_of_failed,
     kTransactions, kTransactions, kSpread, FigureUnit::Percent, {"failed%"}, {}, 8,
     {.title = "Failed", .help = "Share of the calls that failed", .dropped = 4,
      .dropped_compared = 5}},
    {Figure::Vanished, "vanished", "vanished", [](const Tag& tag) { return tag.vanished; },
     kTransactions, kNoTypes, kOther, FigureUnit::Count, {}, {}, 0,
     {.label = "not ended", .place = 6}},
    {Figure::Total, "total", "sum", [](const Tag& tag) { return tag.sum; },
     kTimed, kTransactions, kSum, FigureUnit::Value,
     {"total", "total"}, {.sort = "total", .width = 8}, 7,
     {.title = "Total", .dropped_compared = 1, .label = "total time", .place = 7,
      .types = kTransactions}},
    {Figure::Mean, "mean", "mean", [](const Tag& tag) { return tag.mean; },
     kTimed, kTimed, kSpread, FigureUnit::Value,
     {"mean", "mean"}, {.sort = "mean", .width = 8, .dropped = 2}, 5,
     {.title = "Mean", .help = "Sum divided by calls", .dropped = 8, .dropped_compared = 6,
      .label = "mean", .place = 11}},
    {Figure::Min, "min", "min", [](const Tag& tag) { return value_of(tag.min); },
     kTimed, kNoTypes, kOther, FigureUnit::Value, {}, {}, 0, {.label = "min", .place = 10}},
    {Figure::P50, "p50", "p50", percentile_at<kP50>, kTimed, kTimed, kSpread, FigureUnit::Value,
     {"p50", "p50"}, {.sort = "p50", .width = 8, .dropped = 3}, 4,
     {.title = "p50", .help = "50% of the calls took no longer", .dropped = 3,
      .dropped_compared = 4, .label = "p50", .place = 12}, kPercentiles[kP50]},
    {Figure::P75, "p75", "", p75_of, kTimed, kTimed, kSpread, FigureUnit::Value, {}, {}, 0, {}, 0.75},
    {Figure::P90, "p90", "p90", percentile_at<kP90>, kTimed, kTimed, kSpread, FigureUnit::Value,
     {}, {}, 0, {.label = "p90", .place = 13}, kPercentiles[kP90]},
    {Figure::P95, "p95", "p95", percentile_at<kP95>, kTimed, kTimed, kSpread, FigureUnit::Value,
     {"p95", "p95"}, {.sort = "p95", .width = 8, .dropped = 7}, 6,
     {.title = "p95", .help = "95% of the calls took no longer", .dropped = 9,
      .dropped_compared = 7, .label = "p95", .place = 14}, kPercentiles[kP95]},
    {Figure::P99, "p99", "p99", percentile_at<kP99>, kTimed, kTimed, kSpread, FigureUnit::Value,
     {"p99", "p99"}, {.sort = "p99", .width = 8, .dropped = 5}, 3,
     {.title = "p99", .help = "99% of the calls took no longer", .dropped = 1,
      .dropped_compared = 2, .label = "p99", .place = 15}, kPercentiles[kP99]},
    {Figure::P999, "p999", "p999", percentile_at<kP999>, kTimed, kTimed, kSpread, FigureUnit::Value,
     {}, {}, 0, {.label = "p99.9", .place = 16}, kPercentiles[kP999]},
    {Figure::Max, "max", "max", [](const Tag& tag) { return value_of(tag.max); },
     kTimed, kTimed, kOther, FigureUnit::Value,
     {"max", "max"}, {.sort = "max", .width = 9, .dropped = 6}, 2,
     {.title = "Max", .help = "The slowest, or the greatest value", .dropped = 5,
      .dropped_compared = 8, .label = "max", .place = 17}},
    {Figure::Busy, "", "busy", [](const Tag& tag) { return tag.busy; },
     kTransactions, kNoTypes, kOther, FigureUnit::Number,
     {"busy"}, {.sort = "busy", .width = 7, .dropped = 4}, 0,
     {.title = "Busy",
      .help = "How many were in progress at a time, on average: total time by elapsed time",
      .dropped = 6, .label = "busy", .place = 5}},
    {Figure::InFlight, "", "", [](const Tag& tag) { return tag.in_flight; },
     kTransactions, kNoTypes, kOther, FigureUnit::Count,
     {"open"}, {.sort = "open", .width = 6, .dropped = 8}, 0, {}},
    {Figure::Last, "value", "last", [](const Tag& tag) { return tag.last; },
     kValues, kNoTypes, kOther, FigureUnit::Value, {"", "last", "value"}, {}, 0,
     {.title = "Last", .help = "The last value", .dropped = 0, .label = "last value", .place = 9},
     kNoQuantile, Figure::Busy},
    {Figure::Added, "added", "added", added_to,
     kCounters, kCounters, kCount, FigureUnit::Value, {"", "", "added"}, {}, 0,
     {.title = "Added", .help = "The sum of all additions in the run", .dropped = 0,
      .label = "added", .place = 8,
      .why_unknown = "nothing was added, or it was not recorded"},
     kNoQuantile, Figure::Total},
}};
// clang-format on

const FigureRow* find_figure(std::string_view word) {
  const auto found = std::ranges::find(kFigures, word, &FigureRow::word);
  return word.empty() || found == kFigures.end() ? nullptr : &*found;
}

bool lacks_failed(const Tag& tag, Figure figure) {
  if (tag.type != TraceType::Transact || tag.failed) return false;
  const bool is_time = row_of(figure).types == kDistributions || figure == Figure::Busy;
  if (is_time) return tag.times_of != Ending::Completed;
  return figure != Figure::Completed && figure != Figure::Vanished;
}

std::optional<Figure> figure_in(Figure column, TraceType type) {
  const auto found = std::ranges::find_if(kFigures, [&](const FigureRow& row) {
    return row.column == column && (row.types & type_bit(type)) != 0;
  });
  return found == kFigures.end() ? std::nullopt : std::optional(found->figure);
}

std::string_view heading_of(Figure column, std::size_t table) {
  for (const FigureRow& row : kFigures)
    if (row.column == column && !row.headings[table].empty()) return row.headings[table];
  return "";
}

std::optional<double> value_of(const Tag& tag, Figure figure) {
  return has_figure(tag.type, figure) ? row_of(figure).read(tag) : std::nullopt;
}

std::optional<double> compared_value_of(const Tag& tag, Figure figure, double divisor) {
  if (!is_compared(tag.type, figure)) return {};
  const std::optional<double> value = row_of(figure).read(tag);
  return value && is_sum(figure) ? *value / divisor : value;
}

}  // namespace pcp::trace::command
