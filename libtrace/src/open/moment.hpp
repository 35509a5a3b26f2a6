// SPDX-License-Identifier: LGPL-2.1-or-later
// Durations. Measured with the monotonic clock, or, at half the cost, with a counter of the
// processor (TSC on x86-64, CNTVCT_EL0 on arm64): if the kernel keeps time by the counter, its rate
// is known, and it agrees with the monotonic clock (tick_rate.hpp).
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include "base/clock.hpp"

namespace pcp::trace::client {

// On arm64 in half ticks: a moment uses the lowest bit, and a counter of 25 MHz has none to spare.
// No barrier keeps the reading in order: a barrier would cost more than the reading, and the error
// is less than a call takes.
inline std::uint64_t read_counter() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();  // of g++ and clang; <x86intrin.h> takes a quarter of a second
#elif defined(__aarch64__)
  std::uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks << 1;
#else
  return 0;
#endif
}

// Length of a tick in seconds; 0: do not use the counter. Written by the flusher; orders nothing
// else.
inline constinit std::atomic<double> seconds_per_tick{0};

// A moment that begins or ends a duration: nanoseconds of the clock, shifted, with the lowest bit
// set, or ticks of the counter with that bit clear. Several moments of a slow counter are the same:
// then a copy of a transaction may end the next one in its entry.
using Moment = std::uint64_t;

[[gnu::noinline]] inline Moment moment_by_clock() { return now_ns() << 1 | 1; }
constexpr std::uint64_t ns_of(Moment by_clock) { return by_clock >> 1; }
inline Moment moment_by_counter() { return read_counter() & ~Moment{1}; }

// True if moments are counter ticks. Not "> 0": that would go through a vector register.
inline bool has_counter() {
  return std::bit_cast<std::uint64_t>(seconds_per_tick.load(std::memory_order_relaxed)) != 0;
}

inline Moment present_moment() {
  if (has_counter()) [[likely]]
    return moment_by_counter();
  return moment_by_clock();
}

// seconds_since() if not both moments are ticks. 0 if the duration began with a counter that is no
// longer trusted.
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
