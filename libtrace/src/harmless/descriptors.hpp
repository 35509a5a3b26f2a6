// SPDX-License-Identifier: LGPL-2.1-or-later
// The library's descriptors, each with its file: those of the connection and the bell, and those of
// Asio's loop (wrapped_calls.cpp).
//
// A forked child closes its copies at once, before the program reuses the numbers. A program may
// also close all descriptors that it does not know, and then open its own files under our numbers.
// So ours have high numbers, out of its way. Each is checked before a read, write or close. The
// flusher notices closed ones, and makes new ones.
//
// Thread: any.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstddef>

namespace pcp::trace::client {

// Keeps a descriptor, and gives its new number. Ignores negative numbers.
int keep_descriptor(int fd);  // one that is in our epoll before the process can fork
int keep_apart(int fd);       // one that may not be in it
int keep_epoll(int fd);

// Like the system's calls, for kept descriptors. They fail with EBADF if the program has closed
// this one, or put another file in its place. No signal, no wait.
int connect_kept(int fd, const sockaddr_storage& address, socklen_t length);
ssize_t send_kept(int fd, const void* bytes, std::size_t size);
ssize_t receive_kept(int fd, void* bytes, std::size_t room);

// False if it was kept, and the program has closed it or put another file in its place.
bool may_use_descriptor(int fd);

// The same before a close: forgets the descriptor.
bool let_go_of_descriptor(int fd);

// True if the program closed no kept one since forget_lost_descriptors().
bool has_all_descriptors();
void forget_lost_descriptors();

// The flusher polls this one while it waits: a socket pair's end reports that the other end was
// closed. Negative: none.
void watch_descriptor(int fd);
int watched_descriptor();

// In a forked child, before it makes its own: closes those of its parent.
void close_inherited_descriptors();

}  // namespace pcp::trace::client
