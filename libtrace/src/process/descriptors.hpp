// SPDX-License-Identifier: LGPL-2.1-or-later
// The library's descriptors, so that a forked child can close its copies at once, before the
// program there may give the numbers another meaning. Every descriptor that the library makes is
// noted, also those that Asio makes for its loop: see wrapped_calls.cpp.
#pragma once

namespace pcp::trace::client {

int remember_descriptor(int fd);  // gives the same; nothing to remember if negative
void forget_descriptor(int fd);

void close_descriptors_in_children();  // from now on; once per process

// Closes what a parent left to this process, before the first descriptor of its own.
void close_inherited_descriptors();

}  // namespace pcp::trace::client
