// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the metrics of several hosts regularly, and puts them into an uplink. Each host has its own
// thread, because PCP's library may wait long for a silent host. The threads are never joined, so
// they share ownership of their data.
//
// Thread: the main one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "command/otlp/metric_exemplars.hpp"
#include "command/otlp/uplink.hpp"

namespace pcp::trace::command::otlp {

class MetricFeed {
 public:
  // `interval`: between two readings; nothing: a single one. `is_silent`: another reader of the
  // same hosts tells of their troubles.
  MetricFeed(const std::vector<std::string>& hosts, std::optional<Duration> interval,
             std::shared_ptr<Uplink> uplink, std::shared_ptr<MetricExemplars> exemplars,
             bool is_silent);

  // Tells of a host's troubles from now on, although it was made to be silent: nobody else does.
  void tell_of(std::size_t host);

  // True if no more readings will come.
  bool is_over() const;

  // True if some host has been read.
  bool has_worked() const;

  // Reads each host once more. A host that does not answer within a second is left out.
  void finish();

  struct Shared;

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace pcp::trace::command::otlp
