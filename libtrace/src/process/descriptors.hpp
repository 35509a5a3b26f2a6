// SPDX-License-Identifier: LGPL-2.1-or-later
// The library's descriptors, each with the file that it stands for. All that the library makes are
// kept here, also those that Asio makes for its loop: see wrapped_calls.cpp.
//
// A forked child closes its copies at once, before the program there may give the numbers another
// meaning. And a program may close descriptors that it does not know, mostly all that there are,
// and then open files of its own under our numbers. So ours have high numbers, out of its way; each
// is looked at before it is read, written or closed; and the flusher notices, and makes new ones.
//
// Thread: any.
#pragma once

namespace pcp::trace::client {

// Gives the number that it has from now on. Nothing to keep if negative.
int keep_descriptor(int fd);
int keep_epoll(int fd);

// False if it was kept, and the program has put another file in its place, or none.
bool may_use_descriptor(int fd);

// Before it is closed; the same.
bool let_go_of_descriptor(int fd);

// The program has closed none of those that are kept, or were before the other was called.
bool has_all_descriptors();
void forget_lost_descriptors();

// What the flusher looks at while it waits, since the end of a socket pair does not go unnoticed
// when its other end is closed; negative: none.
void watch_descriptor(int fd);
int watched_descriptor();

void close_descriptors_in_children();  // from now on; once per process

// Closes what a parent left to this process, before the first descriptor of its own.
void close_inherited_descriptors();

}  // namespace pcp::trace::client
