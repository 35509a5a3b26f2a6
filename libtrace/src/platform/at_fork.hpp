// SPDX-License-Identifier: LGPL-2.1-or-later
// Handlers of fork().
#pragma once

// The C library's own function below pthread_atfork().
extern "C" int add_fork_handlers(void (*before)(), void (*in_parent)(), void (*in_child)(),
                                 void* library) noexcept __asm__("__register_atfork");

namespace pcp::trace::client {

// pthread_atfork() ties handlers to their library. At exit() the C library (glibc 2.36) takes such
// handlers away while other threads may be in fork(), and then ends the process with an error. Ours
// belong to no library, so they stay: nothing unloads us (-z nodelete).
inline void call_at_forks(void (*before)(), void (*in_parent)(), void (*in_child)()) {
  add_fork_handlers(before, in_parent, in_child, nullptr);
}

}  // namespace pcp::trace::client
