// SPDX-License-Identifier: LGPL-2.1-or-later
// The requests of monitors to change something: reset the collector, replace PCP's debug options,
// or choose the spans to capture.
#pragma once

#include <functional>

#include "agent/privileges.hpp"
#include "agent/span_monitors.hpp"
#include "collector/ingest_counters.hpp"
#include "metrics/metrics.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::agent {

// Thread: the main one.
class StoreRequests {
 public:
  StoreRequests(Metrics& metrics, Privileges& privileges, SpanMonitors& monitors,
                std::function<void(Instant)> reset);

  // Returns 0 or a PCP error.
  int store(const pmapi::AgentResult& values, int context, Instant now);

  Privileges& privileges() { return privileges_; }
  SpanMonitors& monitors() { return monitors_; }

 private:
  int store(const pmValueSet& values, int context, Instant now);
  int replace_debug_options(const pmValueSet& values, int type);
  int store_filter(const Metric& metric, const pmValueSet& values, int context, Instant now);
  int store_number(const Metric& metric, const pmValueSet& values);

  Metrics& metrics_;
  Privileges& privileges_;
  SpanMonitors& monitors_;
  std::function<void(Instant)> reset_;
};

}  // namespace pcp::trace::agent
