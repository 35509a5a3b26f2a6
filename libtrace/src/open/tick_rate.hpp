// SPDX-License-Identifier: LGPL-2.1-or-later
// Measures the length of a tick of the processor's counter, and checks that it stays constant.
//
// Thread: the flusher's.
#pragma once

#include <cstdint>

namespace pcp::trace::client {

class TickRate {
 public:
  // Begins with the rate that the processor names; 0: it names none.
  explicit TickRate(double named_seconds_per_tick = 0) : named_(named_seconds_per_tick) {}

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

  double named_;
  Reading first_;
  Reading last_;
  double seconds_per_tick_ = 0;
  bool has_failed_ = false;
};

// True if the kernel keeps time by the counter: only if all processors agree on it.
bool is_counter_trusted();

// The rate that arm64's counter names; 0 on any other processor.
double named_seconds_per_tick();

// Reads both clocks and publishes the rate. Skips a reading that was interrupted.
void watch_counter(TickRate& rate);

}  // namespace pcp::trace::client
