// SPDX-License-Identifier: LGPL-2.1-or-later
// An engine with a clock that the test moves.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/engine/engine.hpp"
#include "collector/engine/instance_names.hpp"
#include "support/histograms.hpp"

namespace pcp::trace::agent {

using namespace std::chrono_literals;
using enum TraceType;

inline constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

// A window of five intervals of two seconds.
inline constexpr EngineOptions kTwoSeconds{.period = 10s, .buckets = 5};

// The age of a batch with its first and its last call so long ago.
inline wire::BatchAge age(Duration first, Duration last) {
  return {static_cast<std::uint64_t>(first.count()), static_cast<std::uint64_t>(last.count())};
}

// The origin of a process with these labels.
inline std::shared_ptr<const Origin> process(
    std::initializer_list<std::pair<const char*, const char*>> labels, const char* user = "uid 1") {
  Origin origin{user, 1, {}};
  for (const auto& [name, value] : labels) origin.labels.add(name, value);
  return std::make_shared<const Origin>(origin);
}

struct World {
  // Steady clocks may begin anywhere.
  static constexpr Instant kStart{1234567890123ns};

  explicit World(EngineOptions options = {}, const std::vector<KnownInstance>& known = {})
      : engine(options, known, kStart) {}

  // Moves the clock to this time after the start.
  void at(Duration time) { now = kStart + time; }

  // Does all the work that is due.
  void rotate() {
    while (engine.rotate(now, 100)) continue;
  }

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
    engine.apply(engine.tag(type, name), delta, has_histogram(type) ? packed(histogram) : "", age,
                 now);
  }

  void fail(std::string_view name, const std::vector<double>& durations,
            const wire::BatchAge& age = {}) {
    Delta failed;
    Histogram histogram;
    for (const double each : durations)
      if (failed.add(each)) histogram.add(each);
    engine.apply_failures(engine.tag(TraceType::Transact, name), failed, packed(histogram), age,
                          now);
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

  std::vector<CumulativeSample> cumulative(TraceType type, Outcome outcome = Outcome::Completed) {
    std::vector<CumulativeSample> samples;
    const auto all = [](std::int32_t) { return true; };
    for (std::size_t at = 0, more = 1; more > 0; at += more)
      more = engine.cumulative(type, outcome, at, kAll, now, all, samples);
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

  // The labels that are left on the instance at this place.
  std::string labels_kept(TraceType type, std::size_t place) const {
    const InstanceName name = instances(type).at(place);
    return name.origin ? name.origin->labels.part(name.labels_kept).members() : "none";
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
