// SPDX-License-Identifier: LGPL-2.1-or-later
// Puts a late batch in the window: its sender had no agent for a while. A batch only tells when
// its first and its last record happened. The records between are taken to be spread evenly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "collector/engine/types.hpp"
#include "collector/engine/window_clock.hpp"
#include "collector/engine/window_sums.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::agent {

// The records from the share `from` to the share `to` of a batch (0 to 1, in the order of time)
// happened in `interval`.
struct BatchShare {
  std::int64_t interval = 0;
  double from = 0;
  double to = 1;
};

class BatchShares {
 public:
  // Divides the part of the batch that lies in the window. The window is the one that the next
  // rotation will show, so that each value added will also be shown. Nothing if all of the batch is
  // older.
  BatchShares(const wire::BatchAge& age, const WindowClock& clock, std::int64_t current,
              Instant now);

  std::span<const BatchShare> get() const { return {shares_.data(), count_}; }

 private:
  // The most shares of a batch, however many buckets the window has: more would take too long.
  static constexpr std::int64_t kMost = 16;

  std::array<BatchShare, kMost> shares_{};
  std::size_t count_ = 0;
};

// The part of a count from one share to another. Adjoining parts add up exactly.
std::uint64_t part_of(std::uint64_t count, double from, double to);

// The part of a delta: its count rounded, its sum in proportion, its extrema kept.
WindowSums part_of(const Delta& delta, const BatchShare& share);

}  // namespace pcp::trace::agent
