// SPDX-License-Identifier: LGPL-2.1-or-later
// The connection to pmcd by libpcp_pmda: its C callbacks end here, in Metrics and
// StoreRequests. libpcp_pmda gives
// some of its callbacks no context of ours, so there can be one Bridge in a process.
#pragma once

#include <pcp/pmapi.h>
#include <pcp/pmda.h>

#include <array>
#include <string>
#include <vector>

#include "agent/store_requests.hpp"
#include "metrics/metrics.hpp"

namespace pcp::trace::agent {

// Thread: the main one.
class Bridge {
 public:
  // Opens the log: from here on standard error goes there.
  Bridge(int domain, const std::string& log);
  Bridge(const Bridge&) = delete;
  Bridge& operator=(const Bridge&) = delete;

  // Tells pmcd that this agent is ready. False if that failed, for a reason that is in the log.
  bool connect(Metrics& metrics, StoreRequests& stores);

  // Readable when pmcd has sent something.
  int descriptor();

  // Answers one request. False when pmcd has gone.
  bool serve_one();

 private:
  void fill_tables();

  std::string log_;
  pmdaInterface interface_{};
  std::array<pmdaIndom, kIndomCount> indoms_{};
  std::vector<pmdaMetric> metrics_;
};

}  // namespace pcp::trace::agent
