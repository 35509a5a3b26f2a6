// SPDX-License-Identifier: LGPL-2.1-or-later
// Learns how long a tick of the time-stamp counter is, and watches that it stays so.
//
// Thread: the flusher's.
#pragma once

#include <cstdint>

namespace pcp::trace::client {

class TickRate {
 public:
  // Takes readings of the counter and of the monotonic clock that belong together.
  void observe(std::uint64_t ticks, std::uint64_t ns);

  // 0 as long as it is not known, and for ever after the two have disagreed.
  double seconds_per_tick() const { return seconds_per_tick_; }
  bool has_failed() const { return has_failed_; }

 private:
  struct Reading {
    std::uint64_t ticks = 0;
    std::uint64_t ns = 0;
  };

  Reading first_;
  Reading last_;
  double seconds_per_tick_ = 0;
  bool has_failed_ = false;
};

// Tells whether the kernel keeps time by the counter, which it does only if all processors agree on
// it.
bool kernel_trusts_counter();

// Reads both clocks and lets everybody know the rate. Skips a reading in which something came
// between.
void watch_counter(TickRate& rate);

}  // namespace pcp::trace::client
