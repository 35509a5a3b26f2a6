// SPDX-License-Identifier: LGPL-2.1-or-later
// A fork must not happen while the library's thread holds a lock: here that of an allocator that,
// unlike the C library's, is not prepared for forks. As with the one of the address sanitizer, each
// new thread allocates from it before its function runs.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "pcp/trace.h"
#include "platform/forks.hpp"

namespace {

std::mutex heap_lock;
const std::thread::id main_thread = std::this_thread::get_id();
std::atomic<int> slow_allocations{0};

using ThreadBody = void* (*)(void*);

std::atomic<bool> is_beginning{false};

void* begin_slowly(void* given) {
  const std::pair<ThreadBody, void*> body = *static_cast<std::pair<ThreadBody, void*>*>(given);
  {
    const std::lock_guard lock(heap_lock);
    is_beginning = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));  // load: forks wait for its end
  }
  return body.first(body.second);
}

}  // namespace

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, ThreadBody body,
                              void* given) noexcept {
  static std::pair<ThreadBody, void*> only_one;
  only_one = {body, given};
  const auto create =
      reinterpret_cast<decltype(&pthread_create)>(::dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, begin_slowly, &only_one);
}

// While the first call makes its socket, another thread forks, until the fork waits or has
// happened.
namespace {
std::atomic<bool> forks_meanwhile{false};
std::atomic<bool> waits{false};
std::atomic<pid_t> forked{0};
thread_local bool is_forking = false;

bool has_socket() {
  struct stat file {};
  for (int fd = 3; fd < 1024; ++fd)
    if (::fstat(fd, &file) == 0 && S_ISSOCK(file.st_mode)) return true;
  return false;
}
}  // namespace

extern "C" int socket(int domain, int type, int protocol) noexcept {
  const auto make = reinterpret_cast<decltype(&socket)>(::dlsym(RTLD_NEXT, "socket"));
  const int fd = make(domain, type, protocol);
  if (!forks_meanwhile.exchange(false)) return fd;
  std::thread([] {
    is_forking = true;
    const pid_t child = ::fork();
    if (child == 0) ::_exit(has_socket() ? 1 : 0);
    forked = child;
  }).detach();
  while (!waits && forked == 0) std::this_thread::yield();
  return fd;
}

// poll: a fork that waits looks again and again
extern "C" int nanosleep(const timespec* time, timespec* rest) {
  waits = waits || is_forking;
  // poll: the same
  return ::clock_nanosleep(CLOCK_REALTIME, 0, time, rest) == 0 ? 0 : -1;
}

static void* allocate(std::size_t bytes, std::size_t alignment) {
  const std::lock_guard lock(heap_lock);
  if (std::this_thread::get_id() != main_thread) {
    slow_allocations.fetch_add(1, std::memory_order_relaxed);
    std::this_thread::sleep_for(std::chrono::microseconds(200));  // load: forks wait for its end
  }
  void* memory = nullptr;
  if (::posix_memalign(&memory, std::max(alignment, sizeof(void*)), bytes) == 0) return memory;
  throw std::bad_alloc();
}

// Not inline: else the compiler would complain that new and delete do not match.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return allocate(bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}

namespace pcp::trace {
namespace {

// Forks wait as long as necessary, also on a busy machine.
struct ForkRest : testing::Test {
  ForkRest() {
    client::fork_patience = std::chrono::minutes(1);
    ::setenv("PCP_TRACE_SOCKET", "/nonexistent/agent.socket", 1);
    ::setenv("PCP_TRACE_FLUSH", "1", 1);
  }
};

// True if a child finds the lock free.
bool is_heap_free_after_fork() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(heap_lock.try_lock() ? 0 : 1);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status == 0;
}

TEST_F(ForkRest, AChildFindsTheAllocatorFree) {
  int tags = 0;
  for (int i = 0; i < 200; ++i) {
    // New tags keep the library's thread in the allocator.
    for (const int before = slow_allocations; slow_allocations == before;) {
      for (const int last = tags + 20; tags < last; ++tags)
        pmtrace_point(pmtrace_tag(("tag " + std::to_string(tags)).c_str()));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // poll: it allocates
    }
    EXPECT_TRUE(is_heap_free_after_fork());
  }
}

TEST_F(ForkRest, AChildFindsTheAllocatorFreeWhileTheThreadIsMade) {
  pmtrace_point(pmtrace_tag("first"));
  while (!is_beginning) std::this_thread::yield();
  EXPECT_TRUE(is_heap_free_after_fork());
}

// Its agent would not see the end of the parent.
TEST_F(ForkRest, AChildHasNoConnectionThatTheFirstCallMakes) {
  forks_meanwhile = true;
  pmtrace_point(pmtrace_tag("first"));
  while (forked == 0) std::this_thread::yield();
  int status = 0;
  ASSERT_EQ(::waitpid(forked, &status, 0), forked);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace pcp::trace
