// SPDX-License-Identifier: LGPL-2.1-or-later
// The clocks of the agent.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>

#include "collector/engine/types.hpp"
#include "wire/steady_clock.hpp"

namespace pcp::trace::agent {

// The steady clock, for the engine's times.
inline Time steady_now() { return present_time().time_since_epoch(); }

// The wall clock, since 1970. It may be set, also backwards.
inline Time wall_now() { return std::chrono::system_clock::now().time_since_epoch(); }

// The form that system calls take.
inline timespec to_timespec(Time time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return {static_cast<time_t>(seconds.count()), static_cast<long>((time - seconds).count())};
}

// The processor time of the calling thread.
inline std::uint64_t thread_cpu_ns() { return read_ns(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace pcp::trace::agent
