// SPDX-License-Identifier: LGPL-2.1-or-later
// How long something takes. Durations are measured with the processor's time-stamp counter, at half
// the price, where it can be trusted: where the kernel itself keeps time by it, and as long as it
// goes along with the monotonic clock (tick_rate.hpp). Everywhere else, and until its rate is
// known, with the monotonic clock.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "wire/steady_clock.hpp"

namespace pcp::trace::client {

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

// Whether moments are by the counter. Not "> 0", which would take the detour by way of a vector
// register.
inline bool has_counter() {
  return std::bit_cast<std::uint64_t>(seconds_per_tick.load(std::memory_order_relaxed)) != 0;
}

inline Moment present_moment() {
  if (has_counter()) [[likely]]
    return moment_by_counter();
  return moment_by_clock();
}

// The time from `then` to `now`, the present moment, where not both are by the counter. A duration
// that began with a counter which has lost our trust since is not known: 0.
[[gnu::noinline]] inline double seconds_by_clock(Moment then, Moment now) {
  if ((then & 1) == 0) return 0;
  if ((now & 1) == 0) now = moment_by_clock();
  return now > then ? static_cast<double>((now - then) >> 1) * 1e-9 : 0;
}

// The time from `then` to `now`, the present moment. Never negative.
inline double seconds_since(Moment then, Moment now) {
  if (((then | now) & 1) != 0) return seconds_by_clock(then, now);
  const auto ticks = static_cast<std::int64_t>(now - then);
  if (ticks <= 0) return 0;
  return static_cast<double>(ticks) * seconds_per_tick.load(std::memory_order_relaxed);
}

}  // namespace pcp::trace::client
