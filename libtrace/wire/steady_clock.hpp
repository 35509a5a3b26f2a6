// SPDX-License-Identifier: LGPL-2.1-or-later
// The monotonic clock, used for all waits and durations: steps of the wall clock have no effect.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

namespace pcp::trace {

inline std::uint64_t read_ns(clockid_t clock) {
  timespec now;
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// Nanoseconds. Needs no system call (vDSO).
inline std::uint64_t now_ns() { return read_ns(CLOCK_MONOTONIC); }

// Up to a few milliseconds late, at a fifth of the cost.
inline std::uint64_t coarse_now_ns() { return read_ns(CLOCK_MONOTONIC_COARSE); }

// now_ns() for waits of the standard library and Asio.
using SteadyTime = std::chrono::steady_clock::time_point;
inline SteadyTime steady_time(std::uint64_t ns) { return SteadyTime(std::chrono::nanoseconds(ns)); }
inline SteadyTime present_time() { return steady_time(now_ns()); }

}  // namespace pcp::trace
