// SPDX-License-Identifier: LGPL-2.1-or-later
// The agent's own state, gathered once for each fetch that needs it.
#pragma once

#include <cstdint>
#include <string>

#include "collector/ingest_counters.hpp"
#include "collector/spans/shared_spans.hpp"
#include "metrics/pmapi.hpp"
#include "metrics/span_desk.hpp"

namespace pcp::trace::agent {

struct AgentStatus {
  explicit AgentStatus(const IngestCounters& counters) : ingest(counters) {}

  const IngestCounters& ingest;
  EngineCounters engine;
  EngineOptions options;
  std::uint16_t port = 0;
  decltype(pmapi::debug_options()) shown_debug{};  // debug options, as PCP's own agent shows them
  std::string debug_options;                       // by name
  double uptime_s = 0;
  double started_s = 0;  // since 1970
  double reset_s = 0;    // also since 1970
  std::uint64_t main_cpu_ns = 0;
  std::uint64_t resident_bytes = 0;
  std::uint64_t labels_left_out = 0;      // instances in all answers so far
  std::uint64_t histograms_left_out = 0;  // values in all answers so far
  SpanTotals spans;
  SpanControls span_controls;
  SpanDesk* span_desk = nullptr;  // null: none

  double period_s() const { return static_cast<double>(options.period.count()) / 1e9; }
  double interval_s() const { return period_s() / options.buckets; }
};

}  // namespace pcp::trace::agent
