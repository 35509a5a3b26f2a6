// SPDX-License-Identifier: LGPL-2.1-or-later
// The promise "cheap": a process that records nothing stays asleep. The tests measure no time, but
// the timeout of the library thread's wait.
#include <poll.h>
#include <sys/prctl.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <string_view>

#include <gtest/gtest.h>

#include "every_call.hpp"
#include "stress/test_agent.hpp"
#include "unit/collector/ingest/deadline.hpp"

namespace {

std::atomic<int> waits{0};       // of the library's thread, since the process began
std::atomic<bool> rests{false};  // in a wait that only an event ends, or minutes

bool is_librarys_thread() {
  std::array<char, 16> name{};
  return ::prctl(PR_GET_NAME, name.data()) == 0 && std::string_view(name.data()) == "pcp_trace";
}

}  // namespace

// The linker's option --wrap redirects all polls to this.
extern "C" int __real_poll(pollfd* entries, nfds_t count, int timeout_ms);
extern "C" int __wrap_poll(pollfd* entries, nfds_t count, int timeout_ms);
extern "C" int __wrap_poll(pollfd* entries, nfds_t count, int timeout_ms) {
  if (!is_librarys_thread()) return __real_poll(entries, count, timeout_ms);
  ++waits;
  if (const int ready = __real_poll(entries, count, 0); ready != 0) return ready;
  rests = timeout_ms < 0 || timeout_ms > 60'000;
  const int ready = __real_poll(entries, count, timeout_ms);
  rests = false;
  return ready;
}

namespace pcp::trace {
namespace {

// Waits until the library's thread rests, in a wait after number `after`.
bool comes_to_rest(int after = 0) {
  return agent::eventually([&] { return rests && waits > after; });
}

void trace_something() {
  ::setenv("PCP_TRACE_FLUSH", "1", 1);  // so that it rests soon
  const pmtrace_handle tag = pmtrace_tag("idle");
  for (int i = 0; i < 1000; ++i) call_everything(tag, "idle by name", i);
}

// At rest, after calls that are delivered.
struct Idle : testing::Test {
  TestAgent agent;

  void SetUp() override {
    trace_something();
    ASSERT_EQ(pmtrace_flush(60), 1);
    ASSERT_TRUE(comes_to_rest());
  }
};

// Asleep, not dead: the thread still flushes.
TEST_F(Idle, AProcessThatPausesIsNotWoken) {
  const int before = waits;
  trace_something();
  EXPECT_TRUE(wait_for_count(agent, TraceType::Point, "idle", 2000));
  EXPECT_TRUE(comes_to_rest(before));
}

TEST_F(Idle, AProcessWithNothingToSendLooksForNoAgent) {
  const int before = waits;
  agent.stop();
  EXPECT_TRUE(comes_to_rest(before));
}

}  // namespace
}  // namespace pcp::trace
