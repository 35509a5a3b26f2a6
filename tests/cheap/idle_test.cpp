// SPDX-License-Identifier: LGPL-2.1-or-later
// The promise "cheap": a process that records nothing is left asleep. Nothing here measures time:
// what counts is that the library's thread never ran.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "every_call.hpp"
#include "stress/test_agent.hpp"

namespace pcp::trace {
namespace {

using namespace std::chrono_literals;

struct ThreadState {
  std::string name;
  char state = 0;
  std::uint64_t switches = 0;  // how often it was put aside, waiting or not
};

ThreadState read_thread(const std::filesystem::path& directory) {
  ThreadState thread;
  std::ifstream status(directory / "status");
  for (std::string key; status >> key;) {
    if (key == "Name:") status >> thread.name;
    if (key == "State:") status >> thread.state;
    if (key == "voluntary_ctxt_switches:" || key == "nonvoluntary_ctxt_switches:") {
      std::uint64_t switches = 0;
      status >> switches;
      thread.switches += switches;
    }
  }
  return thread;
}

std::optional<ThreadState> find_flusher() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    if (const ThreadState thread = read_thread(task.path()); thread.name == "pcp_trace")
      return thread;
  return std::nullopt;
}

// Waits until the library's thread sleeps and has not run for a long while, compared with how
// often it flushes. Gives how often it has run; nothing if it never comes to rest.
std::optional<std::uint64_t> wait_for_rest() {
  constexpr auto kLongWhile = 2s;
  const auto deadline = std::chrono::steady_clock::now() + 120s;
  auto since = std::chrono::steady_clock::now();
  std::uint64_t switches = 0;
  while (std::chrono::steady_clock::now() < deadline) {
    const auto flusher = find_flusher();
    if (!flusher) return std::nullopt;
    if (flusher->state != 'S' || flusher->switches != switches) {
      switches = flusher->switches;
      since = std::chrono::steady_clock::now();
    }
    if (std::chrono::steady_clock::now() - since > kLongWhile) return switches;
    std::this_thread::sleep_for(20ms);
  }
  return std::nullopt;
}

void expect_rest() {
  const auto before = wait_for_rest();
  ASSERT_TRUE(before.has_value());
  std::this_thread::sleep_for(3s);
  EXPECT_EQ(find_flusher()->switches, *before);
}

void trace_something() {
  const pmtrace_handle tag = pmtrace_tag("idle");
  for (int i = 0; i < 1000; ++i) call_everything(tag, "idle by name", i);
}

TEST(Idle, AProcessThatPausesIsNotWoken) {
  TestAgent agent;
  trace_something();
  ASSERT_EQ(pmtrace_flush(60), 1);
  expect_rest();

  // It was asleep, not dead.
  const std::uint64_t before = find_flusher()->switches;
  trace_something();
  EXPECT_TRUE(wait_for_count(agent, TraceType::Point, "idle", 2000));
  EXPECT_GT(find_flusher()->switches, before);
}

TEST(Idle, AProcessWithNothingToSendLooksForNoAgent) {
  TestAgent agent;
  trace_something();
  ASSERT_EQ(pmtrace_flush(60), 1);
  agent.stop();
  expect_rest();
}

}  // namespace
}  // namespace pcp::trace
