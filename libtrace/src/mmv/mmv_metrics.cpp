// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mmv/mmv_metrics.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace pcp::trace::client {
namespace {

using enum MmvType;
using enum MmvSemantics;

std::uint64_t bits_of(double value) {
  return std::isnan(value) ? kNoMmvValue : std::bit_cast<std::uint64_t>(value);
}
std::uint64_t bits_of(std::uint64_t value) { return value; }

template <auto Member, auto Values = &MmvInstance::calls>
std::uint64_t calls(const MmvInstance& instance) {
  return bits_of((instance.*Values).since_start.*Member);
}

template <auto Member, auto Values = &MmvInstance::calls>
std::uint64_t window(const MmvInstance& instance) {
  return bits_of((instance.*Values).in_window.*Member);
}

template <std::size_t Index, auto Values = &MmvInstance::calls>
std::uint64_t quantile(const MmvInstance& instance) {
  return bits_of((instance.*Values).in_window.quantiles[Index]);
}

// A sum that has overflowed is not known.
double known(double sum) { return is_known_sum(sum) ? sum : MmvWindow::Values::kNone; }

template <auto Values = &MmvInstance::calls>
std::uint64_t sum(const MmvInstance& instance) {
  return bits_of(known((instance.*Values).since_start.sum));
}

std::uint64_t last(const MmvInstance& instance) {
  const Delta& calls = instance.calls.since_start;
  return bits_of(calls.count > 0 ? calls.last : MmvWindow::Values::kNone);
}

std::uint64_t total(const MmvInstance& instance) {
  return instance.added.count > 0 ? bits_of(known(instance.added.sum)) : kNoMmvValue;
}

constexpr const char* kOfTheLastMinute =
    "Covers the last minute, in steps of 12 seconds. No value: there were none in that time.";
constexpr const char* kPercentile =
    "At most 2% from the exact value. Covers the last minute, in steps of 12 seconds. No value: "
    "there were none in that time.";
constexpr const char* kSinceStart = "Since the start of the process.";

// Metrics of one type are neighbours.
constexpr std::array kAllMetrics{
    MmvMetric{"transact.count", TraceType::Transact, 1, Unsigned64, Counter, MmvUnits::Count,
              "completed transactions, by tag", kSinceStart, calls<&Delta::count>},
    MmvMetric{"transact.total_time", TraceType::Transact, 2, Double, Counter, MmvUnits::Seconds,
              "time in completed transactions, by tag", kSinceStart, sum<>},
    MmvMetric{"transact.aborts", TraceType::Transact, 3, Unsigned64, Counter, MmvUnits::Count,
              "transactions that failed, by tag", kSinceStart,
              calls<&Delta::count, &MmvInstance::failed>},
    MmvMetric{"transact.abort_time", TraceType::Transact, 13, Double, Counter, MmvUnits::Seconds,
              "time in transactions that failed, by tag", kSinceStart, sum<&MmvInstance::failed>},
    MmvMetric{"transact.abort_min", TraceType::Transact, 14, Double, Gauge, MmvUnits::Seconds,
              "shortest transaction that failed, by tag", kOfTheLastMinute,
              window<&MmvWindow::Values::min, &MmvInstance::failed>},
    MmvMetric{"transact.abort_max", TraceType::Transact, 15, Double, Gauge, MmvUnits::Seconds,
              "longest transaction that failed, by tag", kOfTheLastMinute,
              window<&MmvWindow::Values::max, &MmvInstance::failed>},
    MmvMetric{"transact.abort_p50", TraceType::Transact, 16, Double, Gauge, MmvUnits::Seconds,
              "50th percentile of the time of transactions that failed, by tag", kPercentile,
              quantile<0, &MmvInstance::failed>},
    MmvMetric{"transact.abort_p99", TraceType::Transact, 17, Double, Gauge, MmvUnits::Seconds,
              "99th percentile of the time of transactions that failed, by tag", kPercentile,
              quantile<3, &MmvInstance::failed>},
    MmvMetric{"transact.min_time", TraceType::Transact, 4, Double, Gauge, MmvUnits::Seconds,
              "shortest transaction, by tag", kOfTheLastMinute, window<&MmvWindow::Values::min>},
    MmvMetric{"transact.max_time", TraceType::Transact, 5, Double, Gauge, MmvUnits::Seconds,
              "longest transaction, by tag", kOfTheLastMinute, window<&MmvWindow::Values::max>},
    MmvMetric{"transact.p50", TraceType::Transact, 6, Double, Gauge, MmvUnits::Seconds,
              "50th percentile of the time of transactions, by tag", kPercentile, quantile<0>},
    MmvMetric{"transact.p90", TraceType::Transact, 7, Double, Gauge, MmvUnits::Seconds,
              "90th percentile of the time of transactions, by tag", kPercentile, quantile<1>},
    MmvMetric{"transact.p95", TraceType::Transact, 8, Double, Gauge, MmvUnits::Seconds,
              "95th percentile of the time of transactions, by tag", kPercentile, quantile<2>},
    MmvMetric{"transact.p99", TraceType::Transact, 9, Double, Gauge, MmvUnits::Seconds,
              "99th percentile of the time of transactions, by tag", kPercentile, quantile<3>},
    MmvMetric{"transact.p999", TraceType::Transact, 10, Double, Gauge, MmvUnits::Seconds,
              "99.9th percentile of the time of transactions, by tag", kPercentile, quantile<4>},
    MmvMetric{"transact.inflight", TraceType::Transact, 11, Unsigned64, Gauge, MmvUnits::Count,
              "transactions that have begun and not ended, by tag", "At the last flush.",
              [](const MmvInstance& instance) { return instance.open; }},
    MmvMetric{"transact.oldest", TraceType::Transact, 12, Double, Gauge, MmvUnits::Seconds,
              "age of the oldest transaction in flight, by tag", "0: none is in flight.",
              [](const MmvInstance& instance) { return bits_of(instance.oldest_s); }},
    MmvMetric{"point.count", TraceType::Point, 21, Unsigned64, Counter, MmvUnits::Count,
              "points passed, by tag", kSinceStart, calls<&Delta::count>},
    MmvMetric{"observe.count", TraceType::Observe, 31, Unsigned64, Counter, MmvUnits::Count,
              "values observed, by tag", kSinceStart, calls<&Delta::count>},
    MmvMetric{"observe.sum", TraceType::Observe, 32, Double, Gauge, MmvUnits::None,
              "sum of the values observed, by tag",
              "Since the start of the process; without NaN and infinite values.", sum<>},
    MmvMetric{"observe.value", TraceType::Observe, 33, Double, Gauge, MmvUnits::None,
              "value observed last, by tag", "By any thread of the process.", last},
    MmvMetric{"observe.min", TraceType::Observe, 34, Double, Gauge, MmvUnits::None,
              "smallest value observed, by tag", kOfTheLastMinute, window<&MmvWindow::Values::min>},
    MmvMetric{"observe.max", TraceType::Observe, 35, Double, Gauge, MmvUnits::None,
              "greatest value observed, by tag", kOfTheLastMinute, window<&MmvWindow::Values::max>},
    MmvMetric{"observe.p50", TraceType::Observe, 36, Double, Gauge, MmvUnits::None,
              "50th percentile of the values observed, by tag", kPercentile, quantile<0>},
    MmvMetric{"observe.p90", TraceType::Observe, 37, Double, Gauge, MmvUnits::None,
              "90th percentile of the values observed, by tag", kPercentile, quantile<1>},
    MmvMetric{"observe.p95", TraceType::Observe, 38, Double, Gauge, MmvUnits::None,
              "95th percentile of the values observed, by tag", kPercentile, quantile<2>},
    MmvMetric{"observe.p99", TraceType::Observe, 39, Double, Gauge, MmvUnits::None,
              "99th percentile of the values observed, by tag", kPercentile, quantile<3>},
    MmvMetric{"observe.p999", TraceType::Observe, 40, Double, Gauge, MmvUnits::None,
              "99.9th percentile of the values observed, by tag", kPercentile, quantile<4>},
    MmvMetric{"observe.nonfinite", TraceType::Observe, 41, Unsigned64, Counter, MmvUnits::Count,
              "observed values that are not finite, by tag",
              "Since the start of the process; included in count.", calls<&Delta::nonfinite>},
    MmvMetric{"counter.count", TraceType::Counter, 51, Unsigned64, Counter, MmvUnits::Count,
              "reports of a counter, by tag", kSinceStart,
              [](const MmvInstance&
                     instance) { return instance.calls.since_start.count + instance.added.count; }},
    MmvMetric{"counter.value", TraceType::Counter, 52, Double, Counter, MmvUnits::None,
              "value last reported for a counter, by tag", "By any thread of the process.", last},
    MmvMetric{"counter.total", TraceType::Counter, 53, Double, Counter, MmvUnits::None,
              "sum of all that was added to a counter, by tag", kSinceStart, total}};

}  // namespace

std::span<const MmvMetric> mmv_metrics(TraceType type) {
  const auto is_other = [type](const MmvMetric& metric) { return metric.type != type; };
  const auto* const begin = std::find_if_not(kAllMetrics.begin(), kAllMetrics.end(), is_other);
  const auto* const end = std::find_if(begin, kAllMetrics.end(), is_other);
  return {begin, end};
}

}  // namespace pcp::trace::client
