// The library's descriptors, so that a forked child can close its copies at once, before the
// program there may give the numbers another meaning.
#pragma once

namespace pcp::trace::client {

void close_descriptors_in_children();  // from now on; once per process

// Closes what a parent left to this process, before the first descriptor of its own.
void close_inherited_descriptors();

void remember_descriptor(int fd);
void forget_descriptor(int fd);  // before it is closed

}  // namespace pcp::trace::client
