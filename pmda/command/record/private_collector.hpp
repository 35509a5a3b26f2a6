// SPDX-License-Identifier: LGPL-2.1-or-later
// A collector in this process, for one program and its children: nobody else reaches it. Its Unix
// socket is in a directory of its own, its TCP port, for programs of PCP's own library, on the
// loopback addresses only, and it takes programs of this user only.
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
  // Fails, too, if this process may not have enough files open for any program to connect.
  static Result<std::unique_ptr<PrivateCollector>> create(agent::Time interval);
  PrivateCollector(const PrivateCollector&) = delete;
  PrivateCollector& operator=(const PrivateCollector&) = delete;

  // Makes a program find it, and capture from its first call on what this filter wants; empty:
  // nothing.
  EnvironmentChanges environment(const std::string& filter) const;

  // Has what matches captured, from before it starts as long as the monitor is there.
  std::unique_ptr<agent::Spans::Monitor> capture(const std::string& filter) {
    return collector_->spans().capture(filter, {});
  }

  void start() { collector_->start(); }
  void stop() { collector_->stop(); }

  // Nobody is connected, and all that was sent by those who were has been counted.
  bool is_quiet() { return collector_->is_quiet(); }

  // Why calls of programs may be missing; empty: none are, as far as it knows.
  std::string what_is_missing() const;

  // Programs could not connect since there were too many at a time.
  bool has_refused_some() const;

  agent::Time begin() const { return begin_; }  // of the first interval
  agent::Reader reader() const { return collector_->reader(); }
  std::uint16_t port() const { return collector_->port(); }

 private:
  explicit PrivateCollector(PrivateDirectory directory) : directory_(std::move(directory)) {}

  PrivateDirectory directory_;
  agent::Time interval_{};
  agent::Time begin_{};
  std::unique_ptr<agent::Collector> collector_;  // stops when it goes, before its directory
};

// Of this process.
rlim_t max_open_files();

// What collectors had to say, the first lines of it.
std::string collectors_log();

}  // namespace pcp::trace::command
