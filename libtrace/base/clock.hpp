// SPDX-License-Identifier: LGPL-2.1-or-later
// The clocks. The steady one is used for all waits and durations: steps of the wall clock have no
// effect.
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

// Nanoseconds of the steady clock. Needs no system call (vDSO).
inline std::uint64_t now_ns() { return read_ns(CLOCK_MONOTONIC); }

// Up to a few milliseconds late, at a fifth of the cost.
inline std::uint64_t coarse_now_ns() { return read_ns(CLOCK_MONOTONIC_COARSE); }

// The processor time of the calling thread.
inline std::uint64_t thread_cpu_ns() { return read_ns(CLOCK_THREAD_CPUTIME_ID); }

using Duration = std::chrono::nanoseconds;

// A reading of the steady clock, as the standard library and Asio take it.
using Instant = std::chrono::time_point<std::chrono::steady_clock, Duration>;
inline Instant instant_at(std::uint64_t ns) { return Instant(Duration(ns)); }
inline Instant steady_now() { return instant_at(now_ns()); }

// A reading of the wall clock, which may be set, also backwards.
using WallTime = std::chrono::time_point<std::chrono::system_clock, Duration>;
inline WallTime wall_now() { return WallTime(Duration(read_ns(CLOCK_REALTIME))); }

// The form that system calls take.
inline timespec to_timespec(Duration time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return {static_cast<time_t>(seconds.count()), static_cast<long>((time - seconds).count())};
}

}  // namespace pcp::trace
