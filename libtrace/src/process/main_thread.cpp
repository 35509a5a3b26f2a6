// SPDX-License-Identifier: LGPL-2.1-or-later
#include "process/main_thread.hpp"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>

#include "process/client.hpp"

namespace pcp::trace::client {
namespace {

std::atomic<bool> has_left{false};  // stands for itself: the ring that follows it is a system call
pthread_key_t key;                  // its destructor runs if main leaves by pthread_exit

void note_end(void*) {
  has_left.store(true, std::memory_order_relaxed);
  if (Client* client = Client::get_if_made()) client->doorbell().ring_only();
}

void mark_main() {
  if (::gettid() == ::getpid()) ::pthread_setspecific(key, &key);
}

// The thread that forked is the child's main.
void begin_child() {
  has_left.store(false, std::memory_order_relaxed);
  mark_main();
}

[[gnu::constructor]] void watch_main() {
  if (::pthread_key_create(&key, note_end) != 0) return;
  mark_main();
  ::pthread_atfork(nullptr, nullptr, begin_child);
}

}  // namespace

bool main_has_left() { return has_left.load(std::memory_order_relaxed); }

bool is_last_thread() {
  // Its links are two and one for each thread, a main that has left included.
  struct stat threads {};
  return ::stat("/proc/self/task", &threads) != 0 || threads.st_nlink <= 4;
}

}  // namespace pcp::trace::client
