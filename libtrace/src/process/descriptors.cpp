// SPDX-License-Identifier: LGPL-2.1-or-later
#include "process/descriptors.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>

#include "process/client.hpp"
#include "record/errno_stays.hpp"

namespace pcp::trace::client {
namespace {

// Few programs have so many descriptors, and the kernel's table for as many is still small. We take
// one number after the other, so that none of ours gets that of another which the program closed.
constexpr int kFirstNumber = 200;
constexpr int kNumbers = 56;

// A descriptor and its file. Between threads the file's identity is carried by the number, which is
// written last; the child of a fork sees what its thread saw.
struct Kept {
  std::atomic<int> number;  // one more than the descriptor; 0: free, -1: being written
  std::atomic<dev_t> device;
  std::atomic<ino_t> inode;
  std::atomic<bool> is_epoll;

  bool is_ours() const;
};

std::array<Kept, 12> all;           // more than the library ever has at a time
std::atomic<unsigned> made{0};      // so many so far; stands for itself, as the next two
std::atomic<bool> has_lost{false};  // one that another has taken the place of
std::atomic<int> watched{-1};

// All epolls have the same inode. Ours is the one that refuses one of our descriptors, since it has
// it. Another one gives it back at once, and is to report nothing of it.
bool has_ours_in_it(int epoll) {
  return std::any_of(all.begin(), all.end(), [epoll](const Kept& kept) {
    const int fd = kept.number.load(std::memory_order_acquire) - 1;
    if (fd < 0 || kept.is_epoll.load(std::memory_order_relaxed) || !kept.is_ours()) return false;
    epoll_event nothing{};
    if (::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &nothing) != 0) return errno == EEXIST;
    ::epoll_ctl(epoll, EPOLL_CTL_DEL, fd, &nothing);
    return false;
  });
}

bool is_file(int fd, dev_t device, ino_t inode) {
  struct stat file {};
  return ::fstat(fd, &file) == 0 && file.st_dev == device && file.st_ino == inode;
}

bool Kept::is_ours() const {
  const ErrnoStays errno_stays;
  const int fd = number.load(std::memory_order_acquire) - 1;
  return is_file(fd, device.load(std::memory_order_relaxed),
                 inode.load(std::memory_order_relaxed)) &&
         (!is_epoll.load(std::memory_order_relaxed) || has_ours_in_it(fd));
}

Kept* find(int fd) {
  for (Kept& kept : all)
    if (fd >= 0 && kept.number.load(std::memory_order_relaxed) == fd + 1) return &kept;
  return nullptr;
}

// Meanwhile the program may close it, and open a file of its own that gets the number.
int move_out_of_the_way(int fd, const struct stat& file) {
  const int least =
      kFirstNumber + static_cast<int>(made.fetch_add(1, std::memory_order_relaxed) % kNumbers);
  const int high = ::fcntl(fd, F_DUPFD_CLOEXEC, least);
  if (high < 0) return errno == EBADF ? -1 : fd;  // closed already; or it may not have so many
  if (is_file(fd, file.st_dev, file.st_ino)) ::close(fd);
  if (is_file(high, file.st_dev, file.st_ino)) return high;
  ::close(high);
  return -1;
}

int keep(int fd, bool is_epoll) {
  struct stat file {};
  if (fd < 0 || ::fstat(fd, &file) != 0) return -1;
  fd = move_out_of_the_way(fd, file);
  if (fd < 0) return fd;
  if (Kept* before = find(fd)) {
    before->number.store(0, std::memory_order_relaxed);
    has_lost.store(true, std::memory_order_relaxed);
  }
  for (Kept& kept : all) {
    int free = 0;
    if (!kept.number.compare_exchange_strong(free, -1, std::memory_order_relaxed)) continue;
    kept.device.store(file.st_dev, std::memory_order_relaxed);
    kept.inode.store(file.st_ino, std::memory_order_relaxed);
    kept.is_epoll.store(is_epoll, std::memory_order_relaxed);
    kept.number.store(fd + 1, std::memory_order_release);
    break;
  }
  return fd;
}

// The program may have a handler of its own before this one that traces: then the descriptors are
// the child's already, and the parent's were closed before them.
void at_fork() {
  if (Client::get_if_made() == nullptr) close_inherited_descriptors();
}

}  // namespace

int keep_descriptor(int fd) { return keep(fd, false); }
int keep_epoll(int fd) { return keep(fd, true); }

bool may_use_descriptor(int fd) {
  const Kept* kept = find(fd);
  return kept == nullptr || kept->is_ours();
}

bool let_go_of_descriptor(int fd) {
  Kept* kept = find(fd);
  if (kept == nullptr) return true;
  const bool is_ours = kept->is_ours();
  kept->number.store(0, std::memory_order_relaxed);
  return is_ours;
}

bool has_all_descriptors() {
  return !has_lost.load(std::memory_order_relaxed) &&
         std::all_of(all.begin(), all.end(), [](const Kept& kept) {
           return kept.number.load(std::memory_order_relaxed) <= 0 || kept.is_ours();
         });
}

void forget_lost_descriptors() { has_lost.store(false, std::memory_order_relaxed); }

void watch_descriptor(int fd) { watched.store(fd, std::memory_order_relaxed); }
int watched_descriptor() { return watched.load(std::memory_order_relaxed); }

void close_descriptors_in_children() { ::pthread_atfork(nullptr, nullptr, at_fork); }

// The epoll first, as long as it can be told by what is in it.
void close_inherited_descriptors() {
  for (const bool is_epoll : {true, false})
    for (const Kept& kept : all)
      if (const int number = kept.number.load(std::memory_order_relaxed);
          number > 0 && kept.is_epoll.load(std::memory_order_relaxed) == is_epoll)
        ::close(number - 1);
}

}  // namespace pcp::trace::client
