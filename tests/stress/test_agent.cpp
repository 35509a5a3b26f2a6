// SPDX-License-Identifier: LGPL-2.1-or-later
#include "test_agent.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <mutex>

#include <gtest/gtest.h>

namespace pcp::trace {
namespace {

agent::Time steady_now() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace

void point_library_at(const std::string& directory) {
  ::setenv("PCP_TRACE_SOCKET", (directory + "/agent.socket").c_str(), 1);
  ::setenv("PCP_TRACE_RECONNECT", "0.05", 1);
}

TestAgent::TestAgent() {
  directory_ = testing::TempDir() + "trace.XXXXXX";
  if (::mkdtemp(directory_.data()) == nullptr) std::abort();
  point_library_at(directory_);
  start();
}

TestAgent::~TestAgent() {
  stop();
  std::filesystem::remove_all(directory_);
}

void TestAgent::start() {
  shared_ = std::make_unique<agent::Shared>(agent::EngineOptions{},
                                            std::vector<agent::KnownInstance>{}, steady_now());
  agent::IngestOptions options;
  options.port = 0;
  options.socket_path = directory_ + "/agent.socket";
  server_ = std::make_unique<agent::Server>(
      std::move(options), *shared_, [](const std::string& line) { std::cerr << line << '\n'; });
  if (const auto listening = server_->listen(); !listening) {
    std::cerr << listening.error().message << '\n';
    std::abort();
  }
  server_->start();
}

void TestAgent::stop() { server_.reset(); }

std::map<std::string, Delta> TestAgent::totals(TraceType type) {
  const std::lock_guard lock(shared_->mutex);
  constexpr std::size_t kAll = 1'000'000;
  std::vector<agent::TagValues> values;
  std::vector<agent::InstanceName> names;
  while (shared_->engine.snapshot(type, values.size(), kAll, steady_now(), values) > 0) continue;
  shared_->engine.instances(type, 0, kAll, names);
  std::map<std::string, Delta> totals;
  for (std::size_t i = 0; i < names.size(); ++i) totals[names[i].tag] = values[i].total;
  return totals;
}

}  // namespace pcp::trace
