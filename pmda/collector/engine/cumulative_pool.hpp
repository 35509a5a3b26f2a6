// SPDX-License-Identifier: LGPL-2.1-or-later
// What the cumulative histograms of all tags have in common: since when they are kept, if at all,
// and their memory, which is not the window's.
#pragma once

#include <cstdint>

#include "collector/engine/histogram_pool.hpp"
#include "collector/engine/types.hpp"

namespace pcp::trace::agent {

class CumulativePool {
 public:
  explicit CumulativePool(std::size_t max_bytes) : memory_(max_bytes) {}

  // Keeps what is completed from here on, in this interval or later.
  void begin(Time now, std::int64_t interval) {
    begun_ = true;
    since_ = now;
    first_interval_ = interval;
  }
  bool begun() const { return begun_; }

  // Forgets all. What comes from here on is kept, if it had begun, and since its tag's start.
  void reset() {
    first_interval_ = 0;
    next_to_coarsen = 0;
    memory_.clear();
  }

  // Requires: it has begun.
  Time since() const { return since_; }
  std::int64_t first_interval() const { return first_interval_; }

  HistogramPool& memory() { return memory_; }

  // For the engine: while memory().coarsening(), which of all tags is the next.
  std::size_t next_to_coarsen = 0;

 private:
  bool begun_ = false;
  Time since_{};
  std::int64_t first_interval_ = 0;
  HistogramPool memory_;
};

}  // namespace pcp::trace::agent
