// SPDX-License-Identifier: LGPL-2.1-or-later
// The metrics in archives that a report uses, by name, from the stock agent and ours, with their
// quantities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "wire/trace_type.hpp"

namespace pcp::trace::command {

// Single transactions.
inline constexpr const char* kEventsMetric = "tracing.events";

// The recorder's statement in the archive's last record: the recording is complete, or why it is
// not.
inline constexpr const char* kEndMetric = "trace.recording.end";
inline constexpr std::string_view kComplete = "complete";

// In the order in which a sample's metrics must be handled.
enum class Quantity : std::uint8_t {
  Uptime,   // of the agent, in seconds
  Started,  // since 1970
  Reset,    // also since 1970
  WholePeriod,
  Period,  // length of the agent's window, in seconds
  Calls,   // from here on of tags; these five only grow, until the agent or the tag restarts
  Failed,
  Sum,
  Vanished,
  Counted,
  Last,
  Rate,  // from here on of calls in the window
  Min,
  Max,
  P50,
  P90,
  P95,
  P99,
  P999,
  Histogram,  // text
};

constexpr bool is_of_tags(Quantity quantity) { return quantity >= Quantity::Calls; }
constexpr bool only_grows(Quantity quantity) {
  return quantity >= Quantity::Calls && quantity <= Quantity::Counted;
}
constexpr std::size_t index_of(Quantity quantity) {
  return static_cast<std::size_t>(quantity) - static_cast<std::size_t>(Quantity::Calls);
}
constexpr std::size_t kGrowing = index_of(Quantity::Last);  // number of quantities that only grow

// Index of p50 to p999 in kPercentiles.
constexpr std::optional<std::size_t> percentile_of(Quantity quantity) {
  if (quantity < Quantity::P50 || quantity > Quantity::P999) return {};
  return index_of(quantity) - index_of(Quantity::P50);
}

struct RecordedQuantity {
  const char* metric;
  TraceType type;  // only meaningful for quantities of tags
  Quantity quantity;
};

std::span<const RecordedQuantity> recorded_quantities();

}  // namespace pcp::trace::command
