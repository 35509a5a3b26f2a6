// SPDX-License-Identifier: LGPL-2.1-or-later
// The promise "cheap" for the first call of a process: it makes the process's client; the other
// threads' first calls wait without spinning.
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <barrier>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "every_call.hpp"
#include "support/scratch_directory.hpp"
#include "system_calls.hpp"
#include "unit/collector/ingest/deadline.hpp"

namespace {

constexpr std::size_t kThreads = 8;
std::array<std::atomic<pid_t>, kThreads> callers{};  // each about to make its first call
thread_local bool is_caller = false;
thread_local int yields = 0;
std::atomic<int> barriers{0};      // of these threads
std::atomic<int> threads_made{0};  // by them
std::atomic<bool> has_seen_others_sleep{false};
bool is_without_threads = false;

// In /proc's stat, the state follows the thread's name.
bool is_asleep(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  return name_end != line.npos && line.compare(name_end, 3, ") S") == 0;
}

bool do_others_sleep() {
  for (const std::atomic<pid_t>& each : callers)
    if (each != ::gettid() && (each == 0 || !is_asleep(each))) return false;
  return true;
}

}  // namespace

// The linker's option --wrap redirects the library's calls to these.
extern "C" {

int __real_sched_yield();
int __wrap_sched_yield();
int __wrap_sched_yield() {
  ++yields;
  return __real_sched_yield();
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
  if (is_caller && number == SYS_membarrier) ++barriers;
  std::va_list list;
  va_start(list, number);
  std::array<long, 6> words;
  for (long& word : words) word = va_arg(list, long);
  va_end(list);
  return __real_syscall(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

int __real_pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*work)(void*),
                          void* given);
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*work)(void*),
                          void* given);
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*work)(void*),
                          void* given) {
  if (is_without_threads) return EAGAIN;
  if (is_caller) ++threads_made;
  return __real_pthread_create(thread, how, work, given);
}

// Called while the first caller makes the client: the other callers have to sleep until it is made.
char* __real_secure_getenv(const char* name);
char* __wrap_secure_getenv(const char* name);
char* __wrap_secure_getenv(const char* name) {
  if (is_caller && std::strcmp(name, "PCP_TRACE_FLUSH") == 0) {
    const int before = yields;
    has_seen_others_sleep = pcp::trace::agent::eventually(do_others_sleep);
    yields = before;
  }
  return __real_secure_getenv(name);
}

}  // extern "C"

namespace pcp::trace {
namespace {

TEST(FirstCall, OfManyThreadsAtOnceSpinsNowhereAndRegistersNothing) {
  ::setenv("PCP_TRACE_SOCKET", "/nowhere/at/all", 1);
  const pmtrace_handle tag = pmtrace_tag("first");
  std::barrier all(kThreads);
  std::vector<std::thread> threads;
  for (std::atomic<pid_t>& own : callers)
    threads.emplace_back([&] {
      is_caller = true;
      all.arrive_and_wait();
      const int before = yields;  // the barrier's
      own = ::gettid();
      pmtrace_tx transaction;
      EXPECT_EQ(pmtrace_begin(tag, &transaction), 0);
      EXPECT_EQ(yields, before);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(has_seen_others_sleep);
  EXPECT_EQ(barriers, 0);
  EXPECT_EQ(threads_made, 1);
}

// So a recording knows of a process that is lost right after its first call.
TEST(FirstCall, HasConnectedToTheSocketBeforeItReturns) {
  const ScratchDirectory directory;
  sockaddr_un address{AF_UNIX, {}};
  (directory.path() / "socket").string().copy(address.sun_path, sizeof address.sun_path - 1);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  ::setenv("PCP_TRACE_SOCKET", address.sun_path, 1);
  const pid_t child = ::fork();
  if (child == 0) {
    is_without_threads = true;  // no flusher comes first
    pmtrace_point(pmtrace_tag("first"));
    __real_syscall(SYS_exit_group, 0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_GE(::accept(listener, nullptr, nullptr), 0);
}

std::size_t entries_of(const char* directory) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) ++count;
  return count;
}

TEST(FirstCall, BySwitchedOffHandleAsksNothingOfTheKernel) {
  ::setenv("PCP_TRACE_NOAGENT", "", 1);
  const pmtrace_handle tag = pmtrace_tag("first");
  std::uint64_t made = 0;
  ASSERT_TRUE(with_system_calls_counted([&](const std::atomic<std::uint64_t>& count) {
    const std::uint64_t before = count;
    pmtrace_tx transaction;
    pmtrace_begin(tag, &transaction);
    pmtrace_end(&transaction);
    pmtrace_observe(tag, 1);
    made = count - before;
  }));
  EXPECT_EQ(made, 0U);
}

TEST(FirstCall, SwitchedOffStartsNoThreadAndOpensNothing) {
  ::setenv("PCP_TRACE_NOAGENT", "", 1);
  const std::size_t threads = entries_of("/proc/self/task");
  const std::size_t descriptors = entries_of("/proc/self/fd");
  call_everything(pmtrace_tag("first"), "first by name", 1);
  EXPECT_EQ(entries_of("/proc/self/task"), threads);
  EXPECT_EQ(entries_of("/proc/self/fd"), descriptors);
}

}  // namespace
}  // namespace pcp::trace
