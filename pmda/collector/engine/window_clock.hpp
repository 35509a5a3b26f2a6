// SPDX-License-Identifier: LGPL-2.1-or-later
// Cuts time into intervals of period/buckets, exact in nanoseconds even if the quotient is not
// whole: interval k begins at ceil(k * period / buckets) after the start. Intervals before the
// start have negative numbers. The period may change; then the count goes on from there.
#pragma once

#include <cstdint>

#include "collector/engine/types.hpp"

namespace pcp::trace::agent {

class WindowClock {
 public:
  // Requires: period > 0, buckets > 0.
  WindowClock(Duration period, std::uint32_t buckets, Instant start)
      : period_(period), buckets_(buckets), start_(start), interval_length_(begin_of(1) - start) {}

  void restart(Instant now) {
    start_ = now;
    first_ = 0;
  }

  // Gives another length to this interval and all later ones. Earlier ones are counted back from
  // its begin with the new length, too.
  void change_period(Duration period, std::int64_t from);

  // Gives an interval another number, and counts all others from it.
  void rename(std::int64_t interval, std::int64_t number) {
    start_ = begin_of(interval);
    first_ = number;
  }

  std::int64_t interval_at(Instant time) const;
  Instant begin_of(std::int64_t interval) const;

  std::int64_t buckets() const { return buckets_; }

  // The length of the longest interval.
  Duration interval_length() const { return interval_length_; }

 private:
  Duration period_;
  std::int64_t buckets_;
  Instant start_;           // of the interval `first_`
  std::int64_t first_ = 0;  // 0 until the period changes
  Duration interval_length_;
};

}  // namespace pcp::trace::agent
