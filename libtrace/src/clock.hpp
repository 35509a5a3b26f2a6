// Time: monotonic, so a step of the wall clock changes nothing.
//
// Durations are measured with the processor's time-stamp counter, at half the price, where it can
// be trusted: where the kernel itself keeps time by it, and as long as it goes along with the
// monotonic clock (tick_rate.hpp). Everywhere else, and until its rate is known, with the monotonic
// clock.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace pcp::trace::client {

// Nanoseconds on the monotonic clock. Needs no system call (vDSO).
inline std::uint64_t now_ns() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

inline std::uint64_t read_counter() {
#ifdef __x86_64__
  return __rdtsc();
#else
  return 0;
#endif
}

// How long a tick of the counter is; 0: do not use it. Written by the flusher, stands for itself.
inline constinit std::atomic<double> seconds_per_tick{0};

// A moment to measure a duration from or to: nanoseconds of the clock with the lowest bit set, or
// ticks of the counter with that bit clear.
using Moment = std::uint64_t;

[[gnu::noinline]] inline Moment moment_by_clock() { return now_ns() << 1 | 1; }
inline Moment moment_by_counter() { return read_counter() & ~Moment{1}; }

inline Moment present_moment() {
  return seconds_per_tick.load(std::memory_order_relaxed) > 0 ? moment_by_counter()
                                                              : moment_by_clock();
}

// The time from `then` to `now`, the present moment. Never negative. A duration that began with a
// counter which has lost our trust since is not known: 0.
inline double seconds_since(Moment then, Moment now) {
  const bool by_clock = (then & 1) != 0;
  if (((then ^ now) & 1) != 0) [[unlikely]]
    now = by_clock ? moment_by_clock() : moment_by_counter();
  if (now <= then) return 0;
  const auto passed = static_cast<std::int64_t>(now - then);  // converts faster than without a sign
  if (by_clock) return static_cast<double>(passed >> 1) * 1e-9;
  return static_cast<double>(passed) * seconds_per_tick.load(std::memory_order_relaxed);
}

}  // namespace pcp::trace::client
