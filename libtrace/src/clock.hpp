// Time for durations and for the ages of batches: monotonic, so a step of the wall clock changes
// nothing.
#pragma once

#include <cstdint>
#include <ctime>

namespace pcp::trace::client {

// Nanoseconds on the monotonic clock. Needs no system call (vDSO).
inline std::uint64_t now_ns() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

inline double seconds_between(std::uint64_t from_ns, std::uint64_t to_ns) {
  return to_ns > from_ns ? static_cast<double>(to_ns - from_ns) * 1e-9 : 0.0;
}

}  // namespace pcp::trace::client
