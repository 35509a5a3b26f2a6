// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/window_clock.hpp"

namespace pcp::trace::agent {

namespace {

__extension__ using Wide = __int128;

// Requires: divisor > 0.
std::int64_t divide_down(Wide dividend, std::int64_t divisor) {
  const Wide quotient = dividend / divisor;
  return static_cast<std::int64_t>(dividend % divisor < 0 ? quotient - 1 : quotient);
}

}  // namespace

// The greatest k with ceil(k * period / buckets) <= elapsed; for whole nanoseconds this is k *
// period <= elapsed * buckets.
std::int64_t WindowClock::interval_at(Instant time) const {
  return first_ + divide_down(Wide{(time - start_).count()} * buckets_, period_.count());
}

Instant WindowClock::begin_of(std::int64_t interval) const {
  return start_ + Duration{-divide_down(-Wide{interval - first_} * period_.count(), buckets_)};
}

void WindowClock::change_period(Duration period, std::int64_t from) {
  rename(from, from);
  period_ = period;
  interval_length_ = begin_of(from + 1) - start_;
}

}  // namespace pcp::trace::agent
