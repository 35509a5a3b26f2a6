// SPDX-License-Identifier: LGPL-2.1-or-later
// Everything at once for a while: many threads, many tags, all kinds of calls, by name and by
// handle, queues that overflow, threads that come and go, and forks all the time, whose children do
// the same. At the end the agent's numbers must be those of all processes together.
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "agent_host.hpp"
#include "pcp/trace.h"

namespace pcp::trace {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// The variable TRACE_STORM_S sets another duration.
std::chrono::seconds duration() {
  const char* seconds = std::getenv("TRACE_STORM_S");
  return std::chrono::seconds(seconds ? std::atoi(seconds) : 10);
}

constexpr auto kChildLife = milliseconds(200);
constexpr double kPatience = 60;
constexpr int kThreads = 4;
constexpr int kTags = 200;

// Counts of what all processes have recorded, in memory that they share.
struct Done {
  std::atomic<std::uint64_t> points, observed, observed_sum, counted, added_sum, ended, aborted;
};
using AllDone = std::array<Done, kTags>;

// The sanitizers' allocators do not survive a fork beside threads that allocate, as these do all
// the time: in the child their lock stays taken for ever, and the flusher waits for it. So with
// sanitizers there are threads only.
#ifdef TRACE_SANITIZED
constexpr bool kForks = false;
#else
constexpr bool kForks = true;
#endif

std::string name_of(std::size_t tag) { return "storm " + std::to_string(tag); }

void call_something(std::minstd_rand& random, AllDone& all) {
  const std::size_t tag = random() % kTags;
  Done& done = all[tag];
  const std::uint64_t value = random() % 1000;
  const std::string name = name_of(tag);
  switch (random() % 7) {
    case 0:
      if (pmtracepoint(name.c_str()) == 0) ++done.points;
      break;
    case 1:
      if (pmtraceobs(name.c_str(), static_cast<double>(value)) == 0) {
        ++done.observed;
        done.observed_sum += value;
      }
      break;
    case 2:
      if (pmtrace_count(pmtrace_tag(name.c_str()), static_cast<double>(value)) == 0) ++done.counted;
      break;
    case 3:
      if (pmtracebegin(name.c_str()) == 0 && pmtraceend(name.c_str()) == 0) ++done.ended;
      break;
    case 4: {
      pmtrace_tx transaction;
      pmtrace_begin(pmtrace_tag(name.c_str()), &transaction);
      if (pmtrace_abort(&transaction) == 0) ++done.aborted;
      break;
    }
    case 5:
      if (pmtrace_add(pmtrace_tag(name.c_str()), static_cast<double>(value)) == 0) {
        ++done.counted;
        done.added_sum += value;
      }
      break;
    default:
      for (int i = 0; i < 100; ++i)
        if (pmtrace_point(pmtrace_tag(name.c_str())) == 0) ++done.points;
  }
}

void call_until(Clock::time_point end, unsigned seed, AllDone& all) {
  std::minstd_rand random(seed);
  while (Clock::now() < end) call_something(random, all);
}

// A program's threads, one after the other and several at a time.
void run_threads(Clock::time_point end, unsigned seed, AllDone& all) {
  std::minstd_rand random(seed);
  const auto one_after_the_other = [&all, end](unsigned own_seed) {
    std::minstd_rand pauses(own_seed);
    for (unsigned i = 0; Clock::now() < end; ++i)
      std::thread(call_until, std::min(end, Clock::now() + milliseconds(pauses() % 500)),
                  own_seed + i, std::ref(all))
          .join();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back(one_after_the_other, static_cast<unsigned>(random()));
  for (std::thread& thread : threads) thread.join();
}

pid_t fork_child(unsigned seed, AllDone& all) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  call_until(Clock::now() + kChildLife, seed, all);
  if (seed % 2 == 0) ::exit(0);  // delivers, too
  ::_exit(pmtrace_flush(kPatience) == 1 ? 0 : 1);
}

TEST(Storm, EveryCallOfAllThreadsAndProcessesIsCounted) {
  void* memory =
      ::mmap(nullptr, sizeof(AllDone), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  AllDone& all = *static_cast<AllDone*>(memory);
  ::setenv("PCP_TRACE_QUEUE", "256", 1);
  ::setenv("PCP_TRACE_FLUSH", "10", 1);
  AgentHost agent;
  pmtracepoint("before all");

  const auto end = Clock::now() + duration();
  std::thread threads(run_threads, end, 1u, std::ref(all));
  int children = 0;
  for (unsigned seed = 100; kForks && Clock::now() < end; ++seed) {
    int status = -1;
    const pid_t child = fork_child(seed, all);
    ASSERT_GT(child, 0);
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "of child " << seed;
    ++children;
  }
  threads.join();
  ASSERT_EQ(pmtrace_flush(kPatience), 1);

  AgentHost::Totals totals = agent.totals();
  std::uint64_t calls = 0;
  for (std::size_t tag = 0; tag < kTags; ++tag) {
    const Done& done = all[tag];
    const std::string name = name_of(tag);
    const auto total = [&](TraceType type) { return totals[{type, name}]; };
    EXPECT_EQ(total(TraceType::Point).count, done.points) << name;
    EXPECT_EQ(total(TraceType::Observe).count, done.observed) << name;
    EXPECT_EQ(total(TraceType::Observe).sum, static_cast<double>(done.observed_sum));
    EXPECT_EQ(total(TraceType::Counter).count, done.counted) << name;
    EXPECT_EQ(total(TraceType::Counter).sum, static_cast<double>(done.added_sum)) << name;
    EXPECT_EQ(total(TraceType::Transact).count, done.ended) << name;
    EXPECT_EQ(total(TraceType::Transact).aborts, done.aborted) << name;
    calls += done.points + done.observed + done.counted + done.ended + done.aborted;
  }
  std::cout << calls << " calls, " << children << " children\n";
  EXPECT_TRUE(children > 1 || !kForks);
}

}  // namespace
}  // namespace pcp::trace
