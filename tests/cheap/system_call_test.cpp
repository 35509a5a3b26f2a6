// SPDX-License-Identifier: LGPL-2.1-or-later
// The promise "cheap": a trace call makes no system call, so it cannot wait for a lock either.
#include <sys/syscall.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "every_call.hpp"
#include "stress/test_agent.hpp"
#include "system_calls.hpp"

namespace pcp::trace {
namespace {

using Count = std::atomic<std::uint64_t>;

TEST(SystemCalls, AreCounted) {
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  ASSERT_TRUE(with_system_calls_counted([&](const Count& count) {
    before = count;
    for (int i = 0; i < 3; ++i) ::syscall(SYS_getppid);
    after = count;
  }));
  EXPECT_EQ(after - before, 3u);
}

// Eleven million calls without a pause outrun the flusher. A full queue wakes the flusher once it
// has finished its work; no other system calls are allowed.
TEST(SystemCalls, AreMadeByOneInAThousandCallsAtMost) {
  constexpr int kRounds = 1'000'000;
  constexpr int kCallsPerSystemCall = 1000;
  TestAgent agent;
  const pmtrace_handle tag = pmtrace_tag("by handle");
  call_everything(tag, "by name", 1);
  ASSERT_EQ(pmtrace_flush(60), 1);

  std::uint64_t made = 0;
  ASSERT_TRUE(with_system_calls_counted([&](const Count& count) {
    const std::uint64_t at_first = count;
    call_everything(tag, "by name", 1);  // this thread's first calls: they make its queue
    const std::uint64_t before = count;
    EXPECT_GT(before, at_first);
    for (int i = 0; i < kRounds; ++i) call_everything(tag, "by name", i);
    made = count - before;
  }));
  RecordProperty("system_calls", std::to_string(made));
  EXPECT_LE(made, std::uint64_t{kRounds} * kCallsInRound / kCallsPerSystemCall);

  ASSERT_EQ(pmtrace_flush(60), 1);
  for (const std::string name : {"by handle", "by name"})
    for (const TraceType type : kTraceTypes) {
      const bool is_also_added_to = type == TraceType::Counter && name == "by handle";
      EXPECT_EQ(agent.total(type, name).count, (kRounds + 2u) * (is_also_added_to ? 2 : 1)) << name;
    }
}

}  // namespace
}  // namespace pcp::trace
