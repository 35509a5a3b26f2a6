// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platform/own_descriptor.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "platform/guards.hpp"

namespace pcp::trace::client {
namespace {

// Few programs have so many descriptors, and the kernel's table is still small at this size.
// Numbers are used in turn: our new descriptor rarely gets the number of one that the program
// closed.
constexpr int kFirstNumber = 200;
constexpr int kNumbers = 56;

std::atomic<unsigned> made{0};  // ever made; orders nothing else

bool is_file(int fd, dev_t device, ino_t inode) {
  struct stat file {};
  return ::fstat(fd, &file) == 0 && file.st_dev == device && file.st_ino == inode;
}

// Meanwhile the program may close `fd`, and open its own file under that number. -1 then.
int move_out_of_the_way(int fd, const struct stat& file) {
  const int least =
      kFirstNumber + static_cast<int>(made.fetch_add(1, std::memory_order_relaxed) % kNumbers);
  const int high = ::fcntl(fd, F_DUPFD_CLOEXEC, least);
  if (high < 0) return errno == EBADF ? -1 : fd;  // closed, or beyond the limit
  if (is_file(fd, file.st_dev, file.st_ino)) ::close(fd);
  if (is_file(high, file.st_dev, file.st_ino)) return high;
  ::close(high);
  errno = EBADF;
  return -1;
}

}  // namespace

bool OwnDescriptor::take(int fd) {
  close();
  if (fd < 0) return false;
  struct stat file {};
  if (::fstat(fd, &file) != 0 && errno != EBADF) {  // a sandbox forbids it
    const ErrnoStays errno_stays;
    ::close(fd);
    return false;
  }
  const int moved = move_out_of_the_way(fd, file);
  device_.store(file.st_dev, std::memory_order_relaxed);
  inode_.store(file.st_ino, std::memory_order_relaxed);
  number_.store(moved < 0 ? fd : moved, std::memory_order_release);
  return moved >= 0;
}

void OwnDescriptor::close() {
  const ErrnoStays errno_stays;
  const int fd = number();
  const bool was_ours = is_ours();
  number_.store(-1, std::memory_order_relaxed);
  if (was_ours) ::close(fd);
}

bool OwnDescriptor::is_ours() const {
  const ErrnoStays errno_stays;
  const int fd = number();
  return fd >= 0 && is_file(fd, device_.load(std::memory_order_relaxed),
                            inode_.load(std::memory_order_relaxed));
}

bool OwnDescriptor::is_usable() const {
  if (is_ours()) return true;
  errno = EBADF;
  return false;
}

bool OwnDescriptor::connect(const sockaddr_storage& address, socklen_t length) const {
  return is_usable() &&
         ::connect(number(), reinterpret_cast<const sockaddr*>(&address), length) == 0;
}

ssize_t OwnDescriptor::send(const void* bytes, std::size_t size,
                            const OwnDescriptor* passed) const {
  if (!is_usable()) return -1;
  if (passed != nullptr && passed->is_ours()) {
    const ssize_t sent = send_with(number(), bytes, size, passed->number());
    if (sent >= 0 || errno == EAGAIN || errno == EINTR) return sent;
  }  // a sandbox may forbid that
  return ::send(number(), bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

ssize_t OwnDescriptor::send_with(int socket, const void* bytes, std::size_t size, int passed) {
  iovec part{const_cast<void*>(bytes), size};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof passed);
  std::memcpy(CMSG_DATA(rights), &passed, sizeof passed);
  return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

ssize_t OwnDescriptor::receive(void* bytes, std::size_t room, int flags) const {
  return is_usable() ? ::recv(number(), bytes, room, flags) : -1;
}

}  // namespace pcp::trace::client
