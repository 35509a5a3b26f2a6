// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared by the cumulative histograms of all tags: whether and since when they are kept, and their
// memory limit, which is separate from the window's.
#pragma once

#include <cstdint>

#include "collector/engine/histogram_pool.hpp"
#include "collector/engine/types.hpp"

namespace pcp::trace::agent {

class CumulativePool {
 public:
  explicit CumulativePool(std::size_t max_bytes) : memory_(max_bytes) {}

  // Keeps all values of intervals that complete from now on: `interval` and later.
  void begin(Instant now, std::int64_t interval) {
    begun_ = true;
    since_ = now;
    first_interval_ = interval;
  }
  bool begun() const { return begun_; }

  // Forgets all. If begin() was called, new values are still kept, each tag's from its start.
  void reset() {
    first_interval_ = 0;
    next_to_coarsen = 0;
    memory_.clear();
  }

  // Requires: it has begun.
  Instant since() const { return since_; }
  std::int64_t first_interval() const { return first_interval_; }

  HistogramPool& memory() { return memory_; }

  // For the engine: the next tag to coarsen, while memory().coarsening().
  std::size_t next_to_coarsen = 0;

 private:
  bool begun_ = false;
  Instant since_{};
  std::int64_t first_interval_ = 0;
  HistogramPool memory_;
};

}  // namespace pcp::trace::agent
