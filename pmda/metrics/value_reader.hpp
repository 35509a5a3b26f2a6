// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads a metric's values with a plain function, whose result type is the metric's type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "collector/engine/types.hpp"
#include "metrics/agent_status.hpp"
#include "metrics/pmapi.hpp"
#include "wire/batch.hpp"

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

}  // namespace pcp::trace::agent
