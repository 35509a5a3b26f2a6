// SPDX-License-Identifier: LGPL-2.1-or-later
// Measures the length of a time-stamp counter's tick, and checks that it stays constant.
//
// Thread: the flusher's.
#pragma once

#include <cstdint>

namespace pcp::trace::client {

class TickRate {
 public:
  // Takes a matching pair of readings of the counter and the monotonic clock.
  void observe(std::uint64_t ticks, std::uint64_t ns);

  // 0 until known, and for ever after the two clocks disagreed.
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

// True if the kernel keeps time by the counter: only if all processors agree on it.
bool kernel_trusts_counter();

// Reads both clocks and publishes the rate. Skips a reading that was interrupted.
void watch_counter(TickRate& rate);

}  // namespace pcp::trace::client
