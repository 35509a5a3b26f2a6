// SPDX-License-Identifier: LGPL-2.1-or-later
// The metrics of tags, and the agent's control. Cluster 0 has those of every trace agent: tools,
// archives and rules rely on their identifiers, types, units and semantics. Clusters 1, 2 and 6
// have those that cluster 0 lacks: distributions over the window, and open transactions.
#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "metrics/metric_table.hpp"

namespace pcp::trace::agent {

namespace {

static_assert(kQuantiles == std::array{0.50, 0.90, 0.95, 0.99, 0.999});

std::uint64_t finite_in_window(const TagValues& tag) {
  return tag.in_window ? tag.window.count - tag.window.nonfinite : 0;
}

// No value for a tag without ended calls, which is shown because of open transactions.
template <typename Value>
std::optional<Value> once_ended(const TagValues& tag, Value value) {
  if (tag.total.empty() && tag.failed.empty()) return {};
  return value;
}

constexpr auto count = [](const TagValues& tag, double) {
  return once_ended(tag, tag.total.count);
};
constexpr auto aborts = [](const TagValues& tag, double) {
  return once_ended(tag, tag.failed.count);
};
constexpr auto sum = [](const TagValues& tag, double) { return once_ended(tag, tag.total.sum); };
constexpr auto nonfinite = [](const TagValues& tag, double) {
  return once_ended(tag, tag.total.nonfinite);
};
constexpr auto last = [](const TagValues& tag, double) { return tag.total.last; };

// No value for a counter to which programs only add.
constexpr auto last_reported = [](const TagValues& tag, double) -> std::optional<double> {
  if (tag.increments.calls == tag.total.count) return {};
  return tag.total.last;
};

constexpr auto added = [](const TagValues& tag, double) -> std::optional<double> {
  if (tag.increments.calls == 0) return {};
  return tag.increments.sum;
};

constexpr auto rate = [](const TagValues& tag, double period_s) -> std::optional<double> {
  if (!tag.in_window || tag.window.count == 0) return {};
  return static_cast<double>(tag.window.count) / period_s;
};

constexpr auto average = [](const TagValues& tag, double) -> std::optional<double> {
  const std::uint64_t finite = finite_in_window(tag);
  if (finite == 0 || !is_known_sum(tag.window.sum)) return {};
  return tag.window.sum / static_cast<double>(finite);
};

constexpr auto least = [](const TagValues& tag, double) -> std::optional<double> {
  if (finite_in_window(tag) == 0) return {};
  return tag.window.min;
};

constexpr auto greatest = [](const TagValues& tag, double) -> std::optional<double> {
  if (finite_in_window(tag) == 0) return {};
  return tag.window.max;
};

// Nothing is known of failures if some came without a duration.
constexpr auto abort_time = [](const TagValues& tag, double) -> std::optional<double> {
  if (tag.failed.nonfinite > 0) return {};
  return once_ended(tag, tag.failed.sum);
};

constexpr auto abort_rate = [](const TagValues& tag, double period_s) -> std::optional<double> {
  if (tag.failed_window.count == 0) return {};
  return static_cast<double>(tag.failed_window.count) / period_s;
};

template <double WindowSums::*Extreme>
constexpr auto of_aborts = [](const TagValues& tag, double) -> std::optional<double> {
  if (tag.failed_window.count == 0 || tag.failed_window.nonfinite > 0) return {};
  return tag.failed_window.*Extreme;
};

template <std::size_t Index>
constexpr auto quantile = [](const TagValues& tag, double) -> std::optional<double> {
  if (!tag.in_window || !tag.has_quantiles) return {};
  return tag.quantiles[Index];
};

constexpr auto quantile_error = [](const TagValues& tag, double) -> std::optional<double> {
  if (!tag.in_window || !tag.has_quantiles) return {};
  return tag.quantile_error;
};

// Makes a reader of floats, which some of the oldest metrics use.
template <typename Function>
constexpr auto as_float(Function) {
  return [](const TagValues& tag, double period_s) -> std::optional<float> {
    const std::optional<double> value = Function{}(tag, period_s);
    if (!value) return {};
    return static_cast<float>(*value);
  };
}

constexpr auto where_the_oldest_is = [](const TagValues& tag,
                                        double) -> std::optional<std::string> {
  const TagValues::InFlight& in_flight = tag.in_flight;
  if (in_flight.pid == 0) return {};
  const std::string pid = std::to_string(in_flight.pid);
  return in_flight.tid == 0 ? pid : pid + "/" + std::to_string(in_flight.tid);
};

}  // namespace

std::vector<Metric> tag_metrics(const ValueUnits& units) {
  return {
      {0, 0, "trace.transact.count", kTransactIndom, PM_SEM_COUNTER, kCount, count},
      {0, 1, "trace.transact.rate", kTransactIndom, PM_SEM_INSTANT, kPerSecond, as_float(rate)},
      {0, 2, "trace.transact.ave_time", kTransactIndom, PM_SEM_INSTANT, kSecondsEach,
       as_float(average)},
      {0, 3, "trace.transact.min_time", kTransactIndom, PM_SEM_INSTANT, kSeconds, as_float(least)},
      {0, 4, "trace.transact.max_time", kTransactIndom, PM_SEM_INSTANT, kSeconds,
       as_float(greatest)},
      {0, 5, "trace.transact.total_time", kTransactIndom, PM_SEM_COUNTER, kSeconds, sum},

      {0, 6, "trace.point.count", kPointIndom, PM_SEM_COUNTER, kCount, count},
      {0, 7, "trace.point.rate", kPointIndom, PM_SEM_INSTANT, kPerSecond, as_float(rate)},

      {0, 8, "trace.observe.count", kObserveIndom, PM_SEM_COUNTER, kCount, count},
      {0, 9, "trace.observe.rate", kObserveIndom, PM_SEM_INSTANT, kPerSecond, as_float(rate)},
      {0, 10, "trace.observe.value", kObserveIndom, PM_SEM_INSTANT, units.observation, last},

      {0, 17, "trace.counter.count", kCounterIndom, PM_SEM_COUNTER, kCount, count},
      {0, 18, "trace.counter.rate", kCounterIndom, PM_SEM_INSTANT, kPerSecond, as_float(rate)},
      {0, 19, "trace.counter.value", kCounterIndom, PM_SEM_COUNTER, units.counter, last_reported},

      {0, 11, "trace.control.period", kNoIndom, PM_SEM_DISCRETE, kSeconds,
       [](const AgentStatus& status) { return static_cast<std::uint32_t>(status.period_s()); }},
      {0, 12, "trace.control.interval", kNoIndom, PM_SEM_DISCRETE, kSeconds,
       [](const AgentStatus& status) {
         return std::max(1u, static_cast<std::uint32_t>(status.interval_s()));
       }},
      {0, 13, "trace.control.buckets", kNoIndom, PM_SEM_DISCRETE, kNoUnits,
       [](const AgentStatus& status) { return status.options.buckets; }},
      {0, 14, "trace.control.port", kNoIndom, PM_SEM_DISCRETE, kNoUnits,
       [](const AgentStatus& status) { return std::uint32_t{status.port}; }},
      {0, 15, "trace.control.reset", kNoIndom, PM_SEM_DISCRETE, kNoUnits,
       [](const AgentStatus&) { return std::uint32_t{1}; }, Store::Reset},
      {0, 16, "trace.control.debug", kNoIndom, PM_SEM_DISCRETE, kNoUnits,
       [](const AgentStatus& status) { return status.shown_debug; }, Store::DebugBits},

      {1, 0, "trace.transact.p50", kTransactIndom, PM_SEM_INSTANT, kSeconds, quantile<0>},
      {1, 1, "trace.transact.p90", kTransactIndom, PM_SEM_INSTANT, kSeconds, quantile<1>},
      {1, 2, "trace.transact.p95", kTransactIndom, PM_SEM_INSTANT, kSeconds, quantile<2>},
      {1, 3, "trace.transact.p99", kTransactIndom, PM_SEM_INSTANT, kSeconds, quantile<3>},
      {1, 4, "trace.transact.p999", kTransactIndom, PM_SEM_INSTANT, kSeconds, quantile<4>},
      {1, 5, "trace.transact.aborts", kTransactIndom, PM_SEM_COUNTER, kCount, aborts},
      {1, 6, "trace.transact.percentile_error", kTransactIndom, PM_SEM_INSTANT, kNoUnits,
       quantile_error},

      {2, 0, "trace.observe.ave", kObserveIndom, PM_SEM_INSTANT, units.observation, average},
      {2, 1, "trace.observe.min", kObserveIndom, PM_SEM_INSTANT, units.observation, least},
      {2, 2, "trace.observe.max", kObserveIndom, PM_SEM_INSTANT, units.observation, greatest},
      {2, 3, "trace.observe.p50", kObserveIndom, PM_SEM_INSTANT, units.observation, quantile<0>},
      {2, 4, "trace.observe.p90", kObserveIndom, PM_SEM_INSTANT, units.observation, quantile<1>},
      {2, 5, "trace.observe.p95", kObserveIndom, PM_SEM_INSTANT, units.observation, quantile<2>},
      {2, 6, "trace.observe.p99", kObserveIndom, PM_SEM_INSTANT, units.observation, quantile<3>},
      {2, 7, "trace.observe.p999", kObserveIndom, PM_SEM_INSTANT, units.observation, quantile<4>},
      {2, 8, "trace.observe.sum", kObserveIndom, PM_SEM_COUNTER, units.observation, sum},
      {2, 9, "trace.observe.percentile_error", kObserveIndom, PM_SEM_INSTANT, kNoUnits,
       quantile_error},
      {2, 10, "trace.observe.nonfinite", kObserveIndom, PM_SEM_COUNTER, kCount, nonfinite},

      {6, 0, "trace.counter.total", kCounterIndom, PM_SEM_COUNTER, units.counter, added},

      {1, 7, "trace.transact.inflight", kTransactIndom, PM_SEM_INSTANT, kCount,
       [](const TagValues& tag, double) { return tag.in_flight.open; }},
      {1, 8, "trace.transact.oldest", kTransactIndom, PM_SEM_INSTANT, kSeconds,
       [](const TagValues& tag, double) {
         return std::chrono::duration<double>(tag.in_flight.oldest_age).count();
       }},
      {1, 9, "trace.transact.oldest_where", kTransactIndom, PM_SEM_INSTANT, kNoUnits,
       where_the_oldest_is},
      {1, 10, "trace.transact.vanished", kTransactIndom, PM_SEM_COUNTER, kCount,
       [](const TagValues& tag, double) { return tag.in_flight.vanished; }},

      {1, 11, "trace.transact.abort_time", kTransactIndom, PM_SEM_COUNTER, kSeconds, abort_time},
      {1, 12, "trace.transact.abort_min", kTransactIndom, PM_SEM_INSTANT, kSeconds,
       of_aborts<&WindowSums::min>},
      {1, 13, "trace.transact.abort_max", kTransactIndom, PM_SEM_INSTANT, kSeconds,
       of_aborts<&WindowSums::max>},
      {1, 14, "trace.transact.abort_rate", kTransactIndom, PM_SEM_INSTANT, kPerSecond,
       as_float(abort_rate)},
  };
}

}  // namespace pcp::trace::agent
