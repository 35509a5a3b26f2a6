// SPDX-License-Identifier: LGPL-2.1-or-later
// Calls in a process's unusual moments: forked children, ends of threads, ends of processes.
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "agent_host.hpp"
#include "pcp/trace.h"
#include "test_agent.hpp"

namespace pcp::trace {
namespace {

constexpr double kPatience = 60;
const std::string kTooLong(255, 'v');

// The status of a child that does the work and then flushes: 0 if all was delivered.
template <typename Work>
int flushing_child(Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that is killed leaves no child behind
    work();
    ::_exit(pmtrace_flush(kPatience) == 1 ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct Lifecycle : testing::Test {
  AgentHost agent;
};

TEST_F(Lifecycle, AForkedChildCountsForItself) {
  const pmtrace_handle inherited = pmtrace_tag("inherited");
  pmtrace_observe(inherited, 1);
  const pmtrace_label too_long{"k", kTooLong.c_str()};
  EXPECT_EQ(pmtrace_tag_with("inherited", &too_long, 1), inherited);
  pmtracepoint("parent");  // pending when the child is made
  pmtrace_tx tx;
  pmtrace_begin(inherited, &tx);
  EXPECT_EQ(flushing_child([inherited, &tx] {
              pmtrace_stats_t stats;
              pmtrace_stats(&stats, sizeof stats);
              if (stats.recorded != 0 || stats.labels_cut != 0) ::_exit(2);
              pmtracepoint("child");
              pmtrace_observe(inherited, 2);
              if (pmtrace_end(&tx) != 0) ::_exit(3);
            }),
            0);
  EXPECT_EQ(pmtrace_abort(&tx), 0);
  ASSERT_EQ(pmtrace_flush(kPatience), 1);
  EXPECT_EQ(agent.total(TraceType::Point, "parent").count, 1u);
  EXPECT_EQ(agent.total(TraceType::Point, "child").count, 1u);
  EXPECT_EQ(agent.total(TraceType::Observe, "inherited").sum, 3);
  EXPECT_EQ(agent.total(TraceType::Transact, "inherited").count, 1u);
  EXPECT_EQ(agent.total(TraceType::Transact, "inherited").aborts, 1u);
}

TEST_F(Lifecycle, ForksOfABusyMultithreadedProgramNeitherHangNorLoseNorDouble) {
  ::setenv("PCP_TRACE_QUEUE", "64", 1);
  std::atomic<bool> done{false};
  std::array<std::atomic<std::uint64_t>, 3> recorded{};
  std::vector<std::thread> threads;
  for (auto& count : recorded)
    threads.emplace_back([&] {
      while (!done) {
        pmtracepoint("busy");
        count.fetch_add(1, std::memory_order_relaxed);
      }
    });
  // Address sanitizer's allocator does not survive a fork beside a thread that is just starting.
  for (auto& count : recorded)
    while (count < 1000) std::this_thread::yield();
  ASSERT_EQ(pmtrace_flush(kPatience), 1);
  constexpr int kChildren = 40;
  for (int i = 0; i < kChildren; ++i)
    EXPECT_EQ(flushing_child([] { pmtracepoint("children"); }), 0);
  done = true;
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(pmtrace_flush(kPatience), 1);
  EXPECT_EQ(agent.total(TraceType::Point, "busy").count, recorded[0] + recorded[1] + recorded[2]);
  EXPECT_EQ(agent.total(TraceType::Point, "children").count, std::uint64_t{kChildren});
}

// The program's handler comes before the library's own, and traces.
TEST_F(Lifecycle, AnAtforkHandlerMayTrace) {
  ::pthread_atfork(nullptr, nullptr, [] { pmtracepoint("in the handler"); });
  pmtracepoint("parent");
  EXPECT_EQ(flushing_child([] { pmtracepoint("after the handler"); }), 0);
  EXPECT_EQ(agent.total(TraceType::Point, "in the handler").count, 1u);
  EXPECT_EQ(agent.total(TraceType::Point, "after the handler").count, 1u);
}

// No call is a cancellation point, not even the one that wakes the flusher.
TEST_F(Lifecycle, ACancelledThreadLeavesItsCallsBehind) {
  pmtracepoint("before");
  ASSERT_EQ(pmtrace_flush(kPatience), 1);
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, nullptr,
                [](void*) -> void* {
                  pthread_cancel(pthread_self());
                  for (int i = 0; i < 100; ++i) pmtracepoint("cancelled");
                  pthread_testcancel();
                  pmtracepoint("never");
                  return nullptr;
                },
                nullptr),
            0);
  void* result = nullptr;
  ASSERT_EQ(pthread_join(thread, &result), 0);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  EXPECT_TRUE(wait_for_count(agent, TraceType::Point, "cancelled", 100));
  EXPECT_EQ(agent.total(TraceType::Point, "never").count, 0u);
}

struct TracesWhenItsThreadEnds {
  ~TracesWhenItsThreadEnds() { pmtracepoint("thread-local destructor"); }
};

TEST_F(Lifecycle, ThreadLocalDestructorsMayTrace) {
  for (int i = 0; i < 50; ++i)
    std::thread([] {
      static thread_local TracesWhenItsThreadEnds object;
      [[maybe_unused]] const volatile auto* touched = &object;
      pmtracepoint("thread");
    }).join();
  // This key's destructor may run before or after the library's own.
  pthread_key_t key;
  pthread_key_create(&key, [](void*) { pmtracepoint("key destructor"); });
  for (int i = 0; i < 50; ++i)
    std::thread([&] {
      pmtracepoint("thread");
      pthread_setspecific(key, &key);
    }).join();
  ASSERT_EQ(pmtrace_flush(kPatience), 1);
  EXPECT_EQ(agent.total(TraceType::Point, "thread").count, 100u);
  EXPECT_EQ(agent.total(TraceType::Point, "thread-local destructor").count, 50u);
  EXPECT_EQ(agent.total(TraceType::Point, "key destructor").count, 50u);
}

// Each thread reuses the recorder of the one before.
TEST_F(Lifecycle, AllThatEndedThreadsBeganCanBeEnded) {
  constexpr int kThreads = 5;
  for (int i = 0; i < kThreads; ++i)
    std::thread([] { EXPECT_EQ(pmtracebegin("left behind"), 0); }).join();
  for (int i = 0; i < kThreads; ++i) EXPECT_EQ(pmtraceend("left behind"), 0) << i;
  EXPECT_EQ(pmtraceend("left behind"), PMTRACE_ERR_NOPROGRESS);
  ASSERT_EQ(pmtrace_flush(kPatience), 1);
  EXPECT_EQ(agent.total(TraceType::Transact, "left behind").count, std::uint64_t{kThreads});
}

TEST_F(Lifecycle, ANewThreadIsNotHeldUpByAnEndedOnesTransaction) {
  std::thread([] { EXPECT_EQ(pmtracebegin("left open"), 0); }).join();
  std::thread([] {
    EXPECT_EQ(pmtracebegin("left open"), 0);
    EXPECT_EQ(pmtracebegin("left open"), PMTRACE_ERR_INPROGRESS);
    EXPECT_EQ(pmtraceend("left open"), 0);
  }).join();
}

}  // namespace
}  // namespace pcp::trace
