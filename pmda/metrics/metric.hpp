// SPDX-License-Identifier: LGPL-2.1-or-later
// How a metric is declared: one Metric each, with its name, what it means, and the function that
// reads its value. The function's result type is the metric's type. Everything that PCP wants to
// know about a metric, the files `pmns` and `help` included, comes from here.
#pragma once

#include <pcp/pmapi.h>
#include <pcp/pmda.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "collector/engine/engine.hpp"
#include "collector/shared.hpp"
#include "metrics/agent_status.hpp"

namespace pcp::trace::agent {

// Serial numbers of the instance domains. The trace types have theirs from index_of().
inline constexpr unsigned kClientIndom = 4;
inline constexpr unsigned kIndomCount = 5;
inline constexpr unsigned kNoIndom = kIndomCount;  // of a metric with one value

// Functions that read one value of a metric, or give false if there is none just now.
using TagReader = std::function<bool(pmAtomValue&, const TagValues&, double period_s)>;
using ClientReader = std::function<bool(pmAtomValue&, const wire::ClientCounters&)>;
using StatusReader = std::function<bool(pmAtomValue&, const AgentStatus&)>;

// What storing a value into a metric does.
enum class Store { Refused, Reset, DebugBits, DebugOptions };

struct Text {
  const char* line;
  const char* full;  // lines end with a newline
};

struct Metric {
  unsigned cluster = 0;
  unsigned item = 0;
  const char* name = "";
  int type = PM_TYPE_UNKNOWN;
  unsigned indom = kNoIndom;
  int semantics = PM_SEM_INSTANT;
  pmUnits units{};
  std::variant<TagReader, ClientReader, StatusReader> reader;
  Text text{};
  Store store = Store::Refused;
};

// From here on: how the tables make a Metric out of a plain function.

struct MetricId {
  unsigned cluster;
  unsigned item;
};

inline void set_atom(pmAtomValue& atom, std::int32_t value) { atom.l = value; }
inline void set_atom(pmAtomValue& atom, std::uint32_t value) { atom.ul = value; }
inline void set_atom(pmAtomValue& atom, std::uint64_t value) { atom.ull = value; }
inline void set_atom(pmAtomValue& atom, float value) { atom.f = value; }
inline void set_atom(pmAtomValue& atom, double value) { atom.d = value; }
inline void set_atom(pmAtomValue& atom, const char* value) { atom.cp = const_cast<char*>(value); }

template <typename Value>
constexpr int pm_type() {
  if constexpr (std::is_same_v<Value, std::int32_t>) return PM_TYPE_32;
  if constexpr (std::is_same_v<Value, std::uint32_t>) return PM_TYPE_U32;
  if constexpr (std::is_same_v<Value, std::uint64_t>) return PM_TYPE_U64;
  if constexpr (std::is_same_v<Value, float>) return PM_TYPE_FLOAT;
  if constexpr (std::is_same_v<Value, double>) return PM_TYPE_DOUBLE;
  if constexpr (std::is_same_v<Value, const char*>) return PM_TYPE_STRING;
}

template <typename Value>
struct Unwrapped {
  using Type = Value;
};
template <typename Value>
struct Unwrapped<std::optional<Value>> {
  using Type = Value;
};

// `read` gives the metric's value from its sources, or an optional one.
template <typename Reader, typename... Source, typename Function>
Metric make_metric(MetricId id, const char* name, unsigned indom, int semantics, pmUnits units,
                   Text text, Function read) {
  using Result = std::invoke_result_t<Function, const Source&...>;
  using Value = typename Unwrapped<Result>::Type;
  Reader reader = [read](pmAtomValue& atom, const Source&... source) {
    const std::optional<Value> value = read(source...);
    if (value) set_atom(atom, *value);
    return value.has_value();
  };
  return {id.cluster, id.item,           name, pm_type<Value>(), indom, semantics,
          units,      std::move(reader), text};
}

template <typename Function>
Metric tag_metric(MetricId id, const char* name, TraceType type, int semantics, pmUnits units,
                  Text text, Function read) {
  return make_metric<TagReader, TagValues, double>(id, name, static_cast<unsigned>(index_of(type)),
                                                   semantics, units, text, read);
}

template <typename Function>
Metric client_metric(MetricId id, const char* name, int semantics, pmUnits units, Text text,
                     Function read) {
  return make_metric<ClientReader, wire::ClientCounters>(id, name, kClientIndom, semantics, units,
                                                         text, read);
}

template <typename Function>
Metric status_metric(MetricId id, const char* name, int semantics, pmUnits units, Text text,
                     Function read) {
  return make_metric<StatusReader, AgentStatus>(id, name, kNoIndom, semantics, units, text, read);
}

inline Metric storable(Metric metric, Store store) {
  metric.store = store;
  return metric;
}

}  // namespace pcp::trace::agent
