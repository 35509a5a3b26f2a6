// SPDX-License-Identifier: LGPL-2.1-or-later
// A collector in the test's own process, on a Unix socket in a temporary directory. Sets the
// environment so that the library connects to it.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "collector/collector.hpp"
#include "support/scratch_directory.hpp"

namespace pcp::trace {

// An agent's numbers of a tag and type.
struct Total : Delta {
  std::uint64_t aborts = 0;
};

class TestAgent {
 public:
  // Requires: this process has traced nothing yet.
  TestAgent();
  ~TestAgent();

  // stop() ends the agent, whose totals can still be read; start() starts another one that knows
  // nothing of the first.
  void stop();
  void start();

  // Totals by tag.
  std::map<std::string, Total> totals(TraceType type);
  Total total(TraceType type, const std::string& tag) { return totals(type)[tag]; }

  const agent::IngestCounters& counters() const { return collector_->reader().ingest_counters(); }
  agent::SharedSpans& spans() { return collector_->spans(); }
  const std::string& directory() const { return directory_; }
  std::uint16_t port() const { return collector_->port(); }

 private:
  const ScratchDirectory scratch_;
  const std::string directory_ = scratch_.path();
  std::unique_ptr<agent::Collector> collector_;
};

// Sets the library's environment.
void point_library_at(const std::string& directory);

// Waits until an agent has counted as many calls of this type, or a long time has passed.
template <typename Agent>
bool wait_for_count(Agent& agent, TraceType type, const std::string& tag, std::uint64_t count) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  while (agent.total(type, tag).count < count) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // poll: more are counted
  }
  return true;
}

}  // namespace pcp::trace
