// SPDX-License-Identifier: LGPL-2.1-or-later
// An engine with a clock that the test moves.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/engine/engine.hpp"
#include "collector/engine/instance_names.hpp"
#include "wire/histogram.hpp"

namespace pcp::trace::agent {

using namespace std::chrono_literals;

inline constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

struct World {
  // Steady clocks may begin anywhere.
  static constexpr Instant kStart{1234567890123ns};

  explicit World(EngineOptions options = {}, const std::vector<KnownInstance>& known = {})
      : engine(options, known, kStart) {}

  // Moves the clock to this time after the start.
  void at(Duration time) { now = kStart + time; }

  void value(TraceType type, std::string_view name, double value = 1) {
    engine.apply_value(engine.tag(type, name), value, now);
  }

  // Applies these values as a batch of a client.
  void batch(TraceType type, std::string_view name, const std::vector<double>& values,
             const wire::BatchAge& age = {}) {
    Delta delta;
    Histogram histogram;
    for (const double each : values) {
      if (delta.add(each)) histogram.add(each);
    }
    std::string packed;
    if (has_histogram(type)) histogram.pack(packed);
    engine.apply(engine.tag(type, name), delta, packed, age, now);
  }

  void add(std::string_view name, std::uint64_t calls, double sum, const wire::BatchAge& age = {}) {
    Delta delta;
    delta.count = calls;
    delta.sum = delta.last = sum;
    engine.apply_increments(engine.tag(TraceType::Counter, name), delta, age, now);
  }

  std::vector<TagValues> snapshot(TraceType type) {
    std::vector<TagValues> values;
    while (engine.snapshot(type, values.size(), kAll, now, values) > 0) continue;
    return values;
  }

  // The values of the only instance with this tag.
  std::optional<TagValues> find(TraceType type, std::string_view tag) {
    const auto names = instances(type);
    const auto values = snapshot(type);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i].tag == tag && names[i].instance == values[i].instance) return values[i];
    }
    return std::nullopt;
  }

  std::vector<CumulativeSample> cumulative(TraceType type) {
    std::vector<CumulativeSample> samples;
    const auto all = [](std::int32_t) { return true; };
    for (std::size_t at = 0, more = 1; more > 0; at += more)
      more = engine.cumulative(type, at, kAll, now, all, samples);
    return samples;
  }

  // The number of calls in the window, perhaps 0.
  std::uint64_t in_window(TraceType type, std::string_view tag) {
    const auto values = find(type, tag);
    return values && values->in_window ? values->window.count : 0;
  }

  std::vector<InstanceName> instances(TraceType type) const {
    std::vector<InstanceName> names;
    engine.instances(type, 0, kAll, names);
    return names;
  }

  std::vector<KnownInstance> known() const {
    std::vector<KnownInstance> known;
    engine.known_instances(0, kAll, known);
    return known;
  }

  // "number name" of each instance, as PCP shows it.
  std::vector<std::string> shown(TraceType type) const {
    std::vector<std::string> out;
    for (const InstanceName& each : instances(type)) {
      out.push_back(std::to_string(each.instance) + ' ' +
                    shown_name(each.tag, each.instance, each.suffixes));
    }
    return out;
  }

  Engine engine;
  Instant now = kStart;
};

}  // namespace pcp::trace::agent
