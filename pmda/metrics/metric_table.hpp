// SPDX-License-Identifier: LGPL-2.1-or-later
// All metrics of the agent: for each a row with its number, name, meaning and
// the reader of its values. The files `pmns` and `pmns.tracing` repeat names and numbers for PCP's
// Install procedures; a test compares them. The file `help` has the texts, and is built in.
#pragma once

#include <string>
#include <vector>

#include "metrics/pmapi.hpp"
#include "metrics/value_reader.hpp"
#include "wire/trace_type.hpp"

namespace pcp::trace::agent {

inline constexpr pmUnits kNoUnits = pmapi::units(0, 0, 0, 0, 0, 0);
inline constexpr pmUnits kCount = pmapi::units(0, 0, 1, 0, 0, PM_COUNT_ONE);
inline constexpr pmUnits kPerSecond = pmapi::units(0, -1, 1, 0, PM_TIME_SEC, PM_COUNT_ONE);
inline constexpr pmUnits kSeconds = pmapi::units(0, 1, 0, 0, PM_TIME_SEC, 0);
inline constexpr pmUnits kSecondsEach = pmapi::units(0, 1, -1, 0, PM_TIME_SEC, PM_COUNT_ONE);
inline constexpr pmUnits kNanoseconds = pmapi::units(0, 1, 0, 0, PM_TIME_NSEC, 0);
inline constexpr pmUnits kBytes = pmapi::units(1, 0, 0, PM_SPACE_BYTE, 0, 0);

// Serial numbers of the instance domains. For trace types they equal index_of().
inline constexpr unsigned kTransactIndom = 0;
inline constexpr unsigned kPointIndom = 1;
inline constexpr unsigned kObserveIndom = 2;
inline constexpr unsigned kCounterIndom = 3;
inline constexpr unsigned kClientIndom = 4;
inline constexpr unsigned kIndomCount = 5;
inline constexpr unsigned kNoIndom = kIndomCount;  // for metrics with a single value
static_assert(kTransactIndom == index_of(TraceType::Transact));
static_assert(kPointIndom == index_of(TraceType::Point));
static_assert(kObserveIndom == index_of(TraceType::Observe));
static_assert(kCounterIndom == index_of(TraceType::Counter));

// The effect of storing into a metric.
enum class Store {
  Refused,
  Reset,
  DebugBits,
  DebugOptions,
  OwnFilter,  // of the storing monitor
  CommonFilter,
  FetchBytes,
  SpanBytes,
  IdleSeconds
};

struct Metric {
  unsigned cluster;
  unsigned item;
  const char* name;
  unsigned indom;
  int semantics;
  pmUnits units;
  ValueReader read;
  Store store = Store::Refused;

  int type() const { return read.type(); }
};

// The units of programs' own values: the options -U and -V.
struct ValueUnits {
  pmUnits observation{};
  pmUnits counter{};
};

std::vector<Metric> metric_table(const ValueUnits& units);

// The parts of metric_table().
std::vector<Metric> tag_metrics(const ValueUnits& units);
std::vector<Metric> agent_metrics();
std::vector<Metric> tracing_metrics();

// The texts about a metric or, as in "TRACE.0", an instance domain.
struct Help {
  std::string line;
  std::string full;  // lines end with a newline
};

// Null if there is none. Thread: the main one.
const Help* find_help(const std::string& name);

}  // namespace pcp::trace::agent
