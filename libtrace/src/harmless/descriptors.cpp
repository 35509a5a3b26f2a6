// SPDX-License-Identifier: LGPL-2.1-or-later
#include "harmless/descriptors.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>

#include "harmless/guards.hpp"

namespace pcp::trace::client {
namespace {

// Few programs have so many descriptors, and the kernel's table is still small at this size.
// Numbers are used in turn: our new descriptor rarely gets the number of one that the program
// closed.
constexpr int kFirstNumber = 200;
constexpr int kNumbers = 56;

enum class Kind : char { InEpoll, Epoll, Apart };

// A descriptor and its file. `number` is written last and carries the file's identity between
// threads; a forked child sees what the forking thread saw.
struct Kept {
  // One more than the descriptor; 0: free, -1: being written. Released by keep() after the others,
  // acquired by is_ours() before them.
  std::atomic<int> number;
  std::atomic<dev_t> device;
  std::atomic<ino_t> inode;
  std::atomic<Kind> kind;

  bool is_ours() const;
};

std::array<Kept, 12> all;           // more than the library ever has
std::atomic<unsigned> made{0};      // ever made; orders nothing else, like the next two
std::atomic<bool> has_lost{false};  // another of ours got the number of a closed one
std::atomic<int> watched{-1};

// All epolls have the same inode. Our epoll refuses a descriptor of ours as already added. Another
// epoll accepts the descriptor, which is then removed at once, with no events asked for. A forked
// child asks its parent's epoll, too: it must not accept one, or the parent may find it there.
bool has_ours_in_it(int epoll) {
  return std::any_of(all.begin(), all.end(), [epoll](const Kept& kept) {
    const int fd = kept.number.load(std::memory_order_acquire) - 1;
    if (fd < 0 || kept.kind.load(std::memory_order_relaxed) != Kind::InEpoll || !kept.is_ours())
      return false;
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
         (kind.load(std::memory_order_relaxed) != Kind::Epoll || has_ours_in_it(fd));
}

Kept* find(int fd) {
  for (Kept& kept : all)
    if (fd >= 0 && kept.number.load(std::memory_order_relaxed) == fd + 1) return &kept;
  return nullptr;
}

// Meanwhile the program may close `fd`, and open its own file under that number.
int move_out_of_the_way(int fd, const struct stat& file) {
  const int least =
      kFirstNumber + static_cast<int>(made.fetch_add(1, std::memory_order_relaxed) % kNumbers);
  const int high = ::fcntl(fd, F_DUPFD_CLOEXEC, least);
  if (high < 0) return errno == EBADF ? -1 : fd;  // closed, or beyond the limit
  if (is_file(fd, file.st_dev, file.st_ino)) ::close(fd);
  if (is_file(high, file.st_dev, file.st_ino)) return high;
  ::close(high);
  return -1;
}

int keep(int fd, Kind kind) {
  struct stat file {};
  if (fd < 0) return -1;
  if (::fstat(fd, &file) != 0) {
    if (errno != EBADF) ::close(fd);  // a sandbox allows no fstat()
    return -1;
  }
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
    kept.kind.store(kind, std::memory_order_relaxed);
    kept.number.store(fd + 1, std::memory_order_release);
    break;
  }
  return fd;
}

// False with EBADF if the program has closed the descriptor, or uses its number.
bool is_usable(int fd) {
  if (may_use_descriptor(fd)) return true;
  errno = EBADF;
  return false;
}

}  // namespace

int keep_descriptor(int fd) { return keep(fd, Kind::InEpoll); }
int keep_apart(int fd) { return keep(fd, Kind::Apart); }
int keep_epoll(int fd) { return keep(fd, Kind::Epoll); }

bool may_use_descriptor(int fd) {
  const Kept* kept = find(fd);
  return kept == nullptr || kept->is_ours();
}

int connect_kept(int fd, const sockaddr_storage& address, socklen_t length) {
  return is_usable(fd) ? ::connect(fd, reinterpret_cast<const sockaddr*>(&address), length) : -1;
}

ssize_t send_kept(int fd, const void* bytes, std::size_t size) {
  return is_usable(fd) ? ::send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT) : -1;
}

ssize_t receive_kept(int fd, void* bytes, std::size_t room) {
  return is_usable(fd) ? ::recv(fd, bytes, room, MSG_DONTWAIT) : -1;
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

// The epoll first, while its contents still identify it.
void close_inherited_descriptors() {
  for (const bool is_epoll : {true, false})
    for (const Kept& kept : all)
      if (const int number = kept.number.load(std::memory_order_relaxed);
          number > 0 && (kept.kind.load(std::memory_order_relaxed) == Kind::Epoll) == is_epoll)
        ::close(number - 1);
}

}  // namespace pcp::trace::client
