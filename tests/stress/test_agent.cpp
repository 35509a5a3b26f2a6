// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test_agent.hpp"

#include <cstdlib>
#include <iostream>
#include <utility>

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "support/all_tags.hpp"

namespace pcp::trace {

void point_library_at(const std::string& directory) {
  ::setenv("PCP_TRACE_SOCKET", (directory + "/agent.socket").c_str(), 1);
  ::setenv("PCP_TRACE_RECONNECT", "0.05", 1);
}

TestAgent::TestAgent() {
  point_library_at(directory_);
  start();
}

TestAgent::~TestAgent() { stop(); }

void TestAgent::start() {
  agent::IngestOptions options;
  options.port = 0;
  options.socket_path = directory_ + "/agent.socket";
  collector_ = std::make_unique<agent::Collector>(
      agent::Collector::Options{.ingest = std::move(options)},
      [](const std::string& line) { std::cerr << line << '\n'; }, steady_now());
  if (const auto listening = collector_->listen(); !listening) {
    std::cerr << listening.error().message << '\n';
    std::abort();
  }
  collector_->start();
}

void TestAgent::stop() { collector_->stop(); }

std::map<std::string, Total> TestAgent::totals(TraceType type) {
  std::map<std::string, Total> totals;
  for (const agent::KnownTag& known : agent::all_tags(collector_->reader(), type)) {
    Total& total = totals[known.name.tag] = {known.values.total, known.values.failed.count};
    if (type == TraceType::Counter) total.sum = known.values.increments.sum;
  }
  return totals;
}

}  // namespace pcp::trace
