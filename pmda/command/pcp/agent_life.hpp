// SPDX-License-Identifier: LGPL-2.1-or-later
// An agent's times, by its own clock. They tell whether it counts from 0 again.
#pragma once

#include <algorithm>
#include <optional>

#include "command/pcp/recorded_metrics.hpp"

namespace pcp::trace::command {

struct AgentLife {
  std::optional<double> uptime_s;
  std::optional<double> started_s;
  std::optional<double> reset_s;

  // Takes one of these times. Requires: is_of_life(quantity).
  void take(Quantity quantity, double seconds) {
    (quantity == Quantity::Uptime    ? uptime_s
     : quantity == Quantity::Started ? started_s
                                     : reset_s) = seconds;
  }

  bool is_other_than(const AgentLife& before) const {
    return (before.uptime_s && uptime_s < before.uptime_s) ||
           (before.started_s && started_s != before.started_s) ||
           (before.reset_s && reset_s != before.reset_s);
  }

  std::optional<double> counts_for_s() const {
    if (!uptime_s || !started_s || !reset_s) return uptime_s;
    return *uptime_s - std::max(*reset_s - *started_s, 0.0);
  }
};

}  // namespace pcp::trace::command
