// SPDX-License-Identifier: LGPL-2.1-or-later
// All metrics of the agent, in the order of the name space, and its instance domains.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "metrics/metric.hpp"

namespace pcp::trace::agent {

// What the programs' own numbers mean: the options -U and -V.
struct ValueUnits {
  pmUnits observation{};
  pmUnits counter{};
};

std::vector<Metric> metric_table(const ValueUnits& units);

extern const std::array<Text, kIndomCount> kIndomTexts;

// The files that PCP's Install procedures read. The committed ones must be equal; see the test.
// Of `pmns` there is one for each name at the top.
std::string pmns_file(const std::vector<Metric>& table, const std::string& top);
std::string help_file(const std::vector<Metric>& table);

// Parts of metric_table, by cluster.
std::vector<Metric> classic_metrics(const ValueUnits& units);  // 0: those of every trace agent
std::vector<Metric> window_metrics(const ValueUnits& units);   // 1, 2 and 6: distributions
std::vector<Metric> in_flight_metrics();                       // 1: what has not ended yet
std::vector<Metric> status_metrics();                          // 3: the agent's own health
std::vector<Metric> client_metrics();                          // 4: the traced processes
std::vector<Metric> span_metrics();                            // 5: spans and who asks for them
std::vector<Metric> histogram_metrics();                       // 7: distributions since some time

}  // namespace pcp::trace::agent
