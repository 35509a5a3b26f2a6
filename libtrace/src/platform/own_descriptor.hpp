// SPDX-License-Identifier: LGPL-2.1-or-later
// A descriptor of the library, with its file.
//
// A forked child closes its copies at once, before the program reuses the numbers. A program may
// also close all descriptors that it does not know, and then open its own files under our numbers.
// So ours have high numbers, out of its way, and each is checked before a read, write or close. The
// flusher notices closed ones, and makes new ones.
//
// Thread: take() and close() are the owner's; the rest any.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>

namespace pcp::trace::client {

class OwnDescriptor {
 public:
  constexpr OwnDescriptor() = default;
  ~OwnDescriptor() { close(); }
  OwnDescriptor(const OwnDescriptor&) = delete;
  OwnDescriptor& operator=(const OwnDescriptor&) = delete;

  // Takes this new descriptor, moves it out of the program's way, and closes the previous one.
  // False with errno if the number is negative, or if the program has already closed it, which
  // counts as lost.
  bool take(int fd);

  // Leaves the number alone if it is the program's now.
  void close();

  int number() const { return number_.load(std::memory_order_acquire); }  // -1: none

  // False if there is none, or the program has closed it or put another file in its place.
  bool is_ours() const;
  bool is_same_file(const OwnDescriptor& other) const {
    return number() >= 0 && device_ == other.device_ && inode_ == other.inode_;
  }
  bool is_lost() const { return number() >= 0 && !is_ours(); }

  // Like the system calls, but they raise no signal, and wait only if asked to. They fail with
  // EBADF unless is_ours().
  bool connect(const sockaddr_storage& address, socklen_t length) const;
  // `passed`: over a Unix socket, the receiver gets this descriptor, too.
  ssize_t send(const void* bytes, std::size_t size, const OwnDescriptor* passed = nullptr) const;
  ssize_t receive(void* bytes, std::size_t room, int flags = MSG_DONTWAIT) const;

 private:
  bool is_usable() const;
  static ssize_t send_with(int socket, const void* bytes, std::size_t size, int passed);

  // Released by take() after the others, acquired by number() before them. A forked child sees what
  // the forking thread saw.
  std::atomic<int> number_{-1};
  std::atomic<dev_t> device_{0};
  std::atomic<ino_t> inode_{0};
};

// The flusher's descriptors, kept where a forked child finds its parent's.
struct FlushersDescriptors {
  OwnDescriptor socket;                    // to the agent
  std::array<OwnDescriptor, 2> mmv_files;  // the present one, and the one that replaces it
};

}  // namespace pcp::trace::client
