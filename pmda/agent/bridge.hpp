// SPDX-License-Identifier: LGPL-2.1-or-later
// The connection to pmcd through libpcp_pmda. Its C callbacks end here and call Metrics and
// StoreRequests. Some callbacks get no user pointer, so a process can have only one Bridge.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "agent/store_requests.hpp"
#include "metrics/metrics.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::agent {

// Thread: the main one.
class Bridge {
 public:
  // Opens the log: from then on standard error goes to the log.
  Bridge(int domain, const std::string& log);
  Bridge(const Bridge&) = delete;
  Bridge& operator=(const Bridge&) = delete;

  // Tells pmcd that this agent is ready. False on failure; the log has the reason.
  bool connect(Metrics& metrics, StoreRequests& stores);

  // Readable when pmcd has sent something.
  int descriptor();

  // Answers one request. False when pmcd has closed the connection.
  bool serve_one();

 private:
  void fill_tables();

  std::string log_;
  pmdaInterface interface_{};
  std::array<pmdaIndom, kIndomCount> indoms_{};
  std::vector<pmdaMetric> metrics_;
};

}  // namespace pcp::trace::agent
