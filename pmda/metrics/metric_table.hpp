// SPDX-License-Identifier: LGPL-2.1-or-later
// All metrics of the agent: for each a row with its number, name, meaning and
// the reader of its values. The files `pmns` and `pmns.tracing` repeat names and numbers for PCP's
// Install procedures; a test compares them. The file `help` has the texts, and is built in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "collector/engine/types.hpp"
#include "metrics/agent_status.hpp"
#include "metrics/pmapi.hpp"
#include "wire/batch.hpp"
#include "wire/trace_type.hpp"

namespace pcp::trace::agent {

// An event array from event_array.hpp.
struct EventBlock {
  pmValueBlock* block;
};

// A value that was read. Its text is valid until the next reading.
struct ReadValue {
  pmAtomValue atom{};
  std::string text{};

  void set(std::int32_t value) { atom.l = value; }
  void set(std::uint32_t value) { atom.ul = value; }
  void set(std::uint64_t value) { atom.ull = value; }
  void set(float value) { atom.f = value; }
  void set(double value) { atom.d = value; }
  void set(const char* value) { atom.cp = const_cast<char*>(value); }
  void set(EventBlock value) { atom.vbp = value.block; }
  void set(std::string value) {
    text = std::move(value);
    atom.cp = text.data();
  }
};

template <typename Value>
constexpr int pm_type() {
  if constexpr (std::is_same_v<Value, std::int32_t>) return PM_TYPE_32;
  if constexpr (std::is_same_v<Value, std::uint32_t>) return PM_TYPE_U32;
  if constexpr (std::is_same_v<Value, std::uint64_t>) return PM_TYPE_U64;
  if constexpr (std::is_same_v<Value, float>) return PM_TYPE_FLOAT;
  if constexpr (std::is_same_v<Value, double>) return PM_TYPE_DOUBLE;
  if constexpr (std::is_same_v<Value, const char*>) return PM_TYPE_STRING;
  if constexpr (std::is_same_v<Value, std::string>) return PM_TYPE_STRING;
  if constexpr (std::is_same_v<Value, EventBlock>) return PM_TYPE_EVENT;
}

template <typename Value>
struct Unwrapped {
  using Type = Value;
};
template <typename Value>
struct Unwrapped<std::optional<Value>> {
  using Type = Value;
};

// A tag's cumulative histogram in the form of cumulative_histogram.hpp.
struct HistogramText {
  std::string text;
};

// Reads one value of a metric, and knows its type. Made from a lambda without captures that returns
// the value, or an optional one, from one of five sources:
// - (const TagValues&, double period_s)
// - (const HistogramText&)
// - (const EventBlock&)
// - (const wire::ClientCounters&)
// - (const AgentStatus&)
class ValueReader {
 public:
  template <typename Function>
  constexpr ValueReader(Function) {
    if constexpr (std::is_invocable_v<Function, const TagValues&, double>) {
      use<Function, TagValues, double>();
    } else if constexpr (std::is_invocable_v<Function, const HistogramText&>) {
      use<Function, HistogramText>();
    } else if constexpr (std::is_invocable_v<Function, const EventBlock&>) {
      use<Function, EventBlock>();
    } else if constexpr (std::is_invocable_v<Function, const wire::ClientCounters&>) {
      use<Function, wire::ClientCounters>();
    } else {
      use<Function, AgentStatus>();
    }
  }

  int type() const { return type_; }

  template <typename... Source>
  bool reads() const {
    return std::holds_alternative<Read<Source...>>(read_);
  }

  // False if there is no value now. Requires: the metric has this source.
  template <typename... Source>
  bool operator()(ReadValue& value, const Source&... source) const {
    return std::get<Read<Source...>>(read_)(value, source...);
  }

 private:
  template <typename... Source>
  using Read = bool (*)(ReadValue&, const Source&...);

  template <typename Function, typename... Source>
  constexpr void use() {
    using Value = typename Unwrapped<std::invoke_result_t<Function, const Source&...>>::Type;
    type_ = pm_type<Value>();
    read_ = +[](ReadValue& read, const Source&... source) {
      std::optional<Value> value = Function{}(source...);
      if (value) read.set(std::move(*value));
      return value.has_value();
    };
  }

  int type_ = PM_TYPE_UNKNOWN;
  std::variant<Read<TagValues, double>, Read<HistogramText>, Read<EventBlock>,
               Read<wire::ClientCounters>, Read<AgentStatus>>
      read_;
};

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
  Wanted,  // traces, for the storing monitor
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
  Outcome outcome = Outcome::Completed;  // of histograms

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

// The texts about a metric or, as in "10.0" whatever the agent's own number is, an instance domain.
struct Help {
  std::string line;
  std::string full;  // lines end with a newline
};

// Null if there is none. Thread: the main one.
const Help* find_help(const std::string& name);

}  // namespace pcp::trace::agent
