// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared by all Google Benchmark programs here: CPU time, medians.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <vector>

namespace bench {

// Set: do everything once, as briefly as possible.
inline const bool is_brief = std::getenv("BENCH_BRIEF") != nullptr;

inline double read_ns(clockid_t clock) {
  timespec now;
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

inline double thread_cpu_ns() { return read_ns(CLOCK_THREAD_CPUTIME_ID); }

inline double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace bench
