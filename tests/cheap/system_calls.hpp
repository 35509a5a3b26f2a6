// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts a thread's system calls: the kernel reports each of them to another thread (seccomp),
// which counts it and lets it continue.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace pcp::trace {

// Runs `work` on its own thread, and gives it that thread's number of system calls, exact at any
// time. False if the kernel refuses to report them.
bool with_system_calls_counted(
    const std::function<void(const std::atomic<std::uint64_t>& count)>& work);

}  // namespace pcp::trace
