// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/figures.hpp"

#include <algorithm>

#include "command/run/groups.hpp"

namespace pcp::trace::command {

namespace {

using FigureValue = std::optional<double>;

// An archive that has no failed calls has completed ones only.
FigureValue completed_calls(const Tag& tag) { return tag.calls - tag.failed.value_or(0); }

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
    {Figure::Calls, "calls", [](const Tag& tag) -> FigureValue { return tag.calls; },
     kAllTypes, kAllTypes, kCount, {"calls", "values", "calls"}, {.sort = "calls", .width = 8}, 9},
    {Figure::Rate, "rate", [](const Tag& tag) { return tag.rate; },
     kAllTypes, kAllTypes, kOther, {"/s", "/s", "/s"}, {.sort = "rate", .width = 8, .dropped = 1}},
    {Figure::Completed, "completed", completed_calls,
     kTransactions, kTransactions, kCount},
    {Figure::Failed, "failed", [](const Tag& tag) { return tag.failed; },
     kTransactions, kTransactions, kCount, {"failed"}, {.sort = "failed", .width = 7}, 1},
    {Figure::FailedShare, "failed%", share_of_failed,
     kTransactions, kTransactions, kSpread, {"failed%"}, {}, 8},
    {Figure::Vanished, "vanished", [](const Tag& tag) { return tag.vanished; },
     kTransactions, kNoTypes, kOther},
    {Figure::Total, "total", [](const Tag& tag) { return tag.sum; },
     kTimed, kTransactions, kSum, {"total", "total"}, {.sort = "total", .width = 8}, 7},
    {Figure::Mean, "mean", [](const Tag& tag) { return tag.mean; },
     kTimed, kTimed, kSpread, {"mean", "mean"}, {.sort = "mean", .width = 8, .dropped = 2}, 5},
    {Figure::Min, "min", [](const Tag& tag) { return value_of(tag.min); },
     kTimed, kNoTypes, kOther},
    {Figure::P50, "p50", percentile_at<kP50>, kTimed, kTimed, kSpread,
     {"p50", "p50"}, {.sort = "p50", .width = 8, .dropped = 3}, 4, kPercentiles[kP50]},
    {Figure::P75, "p75", p75_of, kTimed, kTimed, kSpread, {}, {}, 0, 0.75},
    {Figure::P90, "p90", percentile_at<kP90>, kTimed, kTimed, kSpread,
     {}, {}, 0, kPercentiles[kP90]},
    {Figure::P95, "p95", percentile_at<kP95>, kTimed, kTimed, kSpread,
     {"p95", "p95"}, {.sort = "p95", .width = 8, .dropped = 7}, 6, kPercentiles[kP95]},
    {Figure::P99, "p99", percentile_at<kP99>, kTimed, kTimed, kSpread,
     {"p99", "p99"}, {.sort = "p99", .width = 8, .dropped = 5}, 3, kPercentiles[kP99]},
    {Figure::P999, "p999", percentile_at<kP999>, kTimed, kTimed, kSpread,
     {}, {}, 0, kPercentiles[kP999]},
    {Figure::Max, "max", [](const Tag& tag) { return value_of(tag.max); },
     kTimed, kTimed, kOther, {"max", "max"}, {.sort = "max", .width = 9, .dropped = 6}, 2},
    {Figure::Busy, "", [](const Tag& tag) { return tag.busy; },
     kTransactions, kNoTypes, kOther, {"busy"}, {.sort = "busy", .width = 7, .dropped = 4}},
    {Figure::Last, "value", [](const Tag& tag) { return tag.last; },
     kValues, kNoTypes, kOther, {"", "last", "value"}, {}, 0, kNoQuantile, Figure::Busy},
    {Figure::Added, "added", added_to,
     kCounters, kCounters, kCount, {"", "", "added"}, {}, 0, kNoQuantile, Figure::Total},
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
