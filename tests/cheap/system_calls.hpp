// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts what a thread asks of the kernel: the kernel reports each of its system calls to another
// thread (seccomp), which counts it and lets it go on.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace pcp::trace {

// Runs `work` on a thread of its own and gives it the number of system calls that the thread has
// made so far, exact at any time. False if the kernel will not report them.
bool with_system_calls_counted(
    const std::function<void(const std::atomic<std::uint64_t>& count)>& work);

}  // namespace pcp::trace
