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

// now_ns() for waits of the standard library and Asio.
using SteadyTime = std::chrono::steady_clock::time_point;
inline SteadyTime steady_time(std::uint64_t ns) { return SteadyTime(std::chrono::nanoseconds(ns)); }
inline SteadyTime present_time() { return steady_time(now_ns()); }

// now_ns() as a duration.
inline std::chrono::nanoseconds steady_now() { return present_time().time_since_epoch(); }

// The wall clock, since 1970. It may be set, also backwards.
inline std::chrono::nanoseconds wall_now() {
  return std::chrono::nanoseconds(read_ns(CLOCK_REALTIME));
}

// The form that system calls take.
inline timespec to_timespec(std::chrono::nanoseconds time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return {static_cast<time_t>(seconds.count()), static_cast<long>((time - seconds).count())};
}

}  // namespace pcp::trace
