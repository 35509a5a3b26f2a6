// SPDX-License-Identifier: LGPL-2.1-or-later
// All metrics of the agent, in name-space order, and its instance domains.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "metrics/metric.hpp"

namespace pcp::trace::agent {

// The units of programs' own values: the options -U and -V.
struct ValueUnits {
  pmUnits observation{};
  pmUnits counter{};
};

std::vector<Metric> metric_table(const ValueUnits& units);

extern const std::array<Text, kIndomCount> kIndomTexts;

// The files for PCP's Install procedures. A test compares them with the committed files. There is
// one `pmns` file per top-level name.
std::string pmns_file(const std::vector<Metric>& table, const std::string& top);
std::string help_file(const std::vector<Metric>& table);

// Parts of metric_table, by cluster.
std::vector<Metric> classic_metrics(const ValueUnits& units);  // 0: metrics of every trace agent
std::vector<Metric> window_metrics(const ValueUnits& units);   // 1, 2 and 6: distributions
std::vector<Metric> in_flight_metrics();                       // 1: open transactions
std::vector<Metric> status_metrics();                          // 3: the agent's own health
std::vector<Metric> client_metrics();                          // 4: the traced processes
std::vector<Metric> span_metrics();                            // 5: spans and their control
std::vector<Metric> histogram_metrics();                       // 7: distributions since some time

}  // namespace pcp::trace::agent
