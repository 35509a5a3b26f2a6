// SPDX-License-Identifier: LGPL-2.1-or-later
#include "process/main_thread.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <ctime>
#include <string_view>

#include "platform/forks.hpp"
#include "platform/guards.hpp"
#include "process/client.hpp"

namespace pcp::trace::client {
namespace {

// Written before a ring, read after a bell: the fences of Doorbell::write_ring() and renew() cover
// a bell that is made meanwhile. waits_for_flusher is taken back without a ring, and orders nothing
// else.
std::atomic<bool> has_left{false};
std::atomic<bool> waits_for_flusher{false};

pthread_key_t key;  // its destructor runs if main leaves by pthread_exit

// Two links, and one for each thread of this process, including a main that has left.
nlink_t links_of_threads() {
  struct stat threads {};
  return ::stat("/proc/self/task", &threads) == 0 ? threads.st_nlink : 0;
}

// If the flusher is the only other thread, it leaves before main: the last thread calls exit(), and
// only main can destroy its thread_local objects. A third thread may be the library's short
// resolver thread; if it stays for many looks, it is the program's.
void let_flusher_leave(Client& client) {
  const NoCancellation guard;
  constexpr timespec kPause{0, 100'000};
  waits_for_flusher.store(true, std::memory_order_relaxed);
  client.doorbell().ring_only();
  constexpr int kMostLooks = 50'000;  // five seconds, or more on a busy machine
  constexpr int kLooksAtOthers = 200;
  int others = 0;
  for (int looks = 0; looks < kMostLooks && others < kLooksAtOthers; ++looks) {
    const nlink_t links = links_of_threads();
    if (links < 4) break;
    others = links > 4 ? others + 1 : 0;
    ::nanosleep(&kPause, nullptr);
  }
  waits_for_flusher.store(false, std::memory_order_relaxed);
}

// False: main was the last thread and is inside exit(); another thread's end would end the process
// in the middle of that. Reads the state after the name: Z is an ended thread.
bool is_main_gone() {
  const int fd = ::open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return true;
  std::array<char, 256> text;
  const ssize_t length = ::read(fd, text.data(), text.size());
  ::close(fd);
  const std::string_view line(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  const std::size_t name_end = line.rfind(')');
  return name_end == line.npos || line.substr(name_end).starts_with(") Z");
}

void note_end(void*) {
  has_left.store(true, std::memory_order_relaxed);
  Client* client = Client::get_if_made();
  if (client != nullptr && client->has_flusher()) let_flusher_leave(*client);
}

void mark_main() {
  if (::gettid() == ::getpid()) ::pthread_setspecific(key, &key);
}

// The forking thread is the child's main.
void begin_child() {
  has_left.store(false, std::memory_order_relaxed);
  waits_for_flusher.store(false, std::memory_order_relaxed);
  mark_main();
}

[[gnu::constructor]] void watch_main() {
  if (::pthread_key_create(&key, note_end) != 0) return;
  mark_main();
  call_at_forks(nullptr, nullptr, begin_child);
}

}  // namespace

bool has_main_left() { return has_left.load(std::memory_order_relaxed); }

bool is_last_thread() {
  return links_of_threads() <= 4 &&
         (waits_for_flusher.load(std::memory_order_relaxed) || is_main_gone());
}

}  // namespace pcp::trace::client
