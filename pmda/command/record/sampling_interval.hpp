// SPDX-License-Identifier: LGPL-2.1-or-later
// The time between two samples of a run, unless -t gives it. Nobody knows at its begin how long a
// run will be, so the interval grows with the run: a short run has points to draw, and a long one
// does not have too many samples.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/clock.hpp"

namespace pcp::trace::command {

inline constexpr Duration kFirstInterval = std::chrono::milliseconds(100);

// The interval for a run that has lasted this long, with so many tags. It never shrinks while both
// grow. A day has about 20,000 samples.
Duration interval_after(Duration elapsed, std::size_t tags);

}  // namespace pcp::trace::command
