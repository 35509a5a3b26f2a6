// SPDX-License-Identifier: LGPL-2.1-or-later
// A collector in this process, for one program and its children only. Its Unix socket is in a
// private directory. Its TCP port, for PCP's own library, is on loopback addresses only. Only this
// user's programs are accepted.
//
// Thread: the main one.
#pragma once

#include <sys/resource.h>

#include <memory>
#include <string>
#include <utility>

#include "collector/collector.hpp"
#include "command/record/child.hpp"
#include "command/record/private_directory.hpp"

namespace pcp::trace::command {

class PrivateCollector {
 public:
  // Also fails if the limit of open files allows no connections.
  static Result<std::unique_ptr<PrivateCollector>> create(Duration interval);
  PrivateCollector(const PrivateCollector&) = delete;
  PrivateCollector& operator=(const PrivateCollector&) = delete;

  // Environment for a program: it finds the collector, and captures spans by this filter from its
  // first call on; empty: none.
  EnvironmentChanges environment(const std::string& filter) const;

  // Captures matching spans, as long as the monitor exists; call it before the program starts.
  std::unique_ptr<agent::Spans::Monitor> capture(const std::string& filter) {
    return collector_->spans().capture(filter, {});
  }

  void start() { collector_->start(); }
  void stop() { collector_->stop(); }

  // True if nobody is connected, and all received data is counted.
  bool is_quiet() { return collector_->is_quiet(); }

  // Why calls of programs may be missing; empty: no known reason.
  std::string what_is_missing() const;

  // True if programs were refused because too many were connected.
  bool has_refused_some() const;

  Instant begin() const { return begin_; }  // of the first interval
  agent::Reader reader() const { return collector_->reader(); }
  std::uint16_t port() const { return collector_->port(); }

 private:
  explicit PrivateCollector(PrivateDirectory directory) : directory_(std::move(directory)) {}

  PrivateDirectory directory_;
  Duration interval_{};
  Instant begin_{};
  std::unique_ptr<agent::Collector> collector_;  // first to be destroyed, before the directory
};

// The limit of this process.
rlim_t max_open_files();

// The first log lines of all collectors.
std::string collectors_log();

}  // namespace pcp::trace::command
