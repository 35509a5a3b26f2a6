// SPDX-License-Identifier: LGPL-2.1-or-later
// Keeps the memory of all histograms below a common limit. Near the limit everything is coarsened
// one step, stored histograms one by one; the next step starts only after that, if needed. At the
// limit values are no longer binned. When enough memory is free again, new histograms become finer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "wire/histogram.hpp"

namespace pcp::trace::agent {

class HistogramPool {
 public:
  explicit HistogramPool(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // Histograms are coarsened to this level before values are added.
  unsigned coarseness() const { return coarseness_; }

  bool is_full() const { return bytes_ >= max_bytes_; }
  std::size_t bytes() const { return bytes_; }
  std::uint64_t coarsenings() const { return coarsenings_; }

  // Notes that a histogram's memory changed.
  void account(std::size_t before, std::size_t after) {
    bytes_ += after - before;
    if (after > before && !coarsening_) coarsen_if_necessary();
  }

  // While true, the owner coarsens all stored histograms one by one, and then calls
  // coarsening_done().
  bool is_coarsening() const { return coarsening_; }
  std::size_t next_to_coarsen = 0;  // for the owner
  void coarsening_done() {
    coarsening_ = false;
    next_to_coarsen = 0;
    coarsen_if_necessary();
  }

  // Once per interval: makes new histograms finer if they would fit even at twice the size.
  void refine() {
    if (coarseness_ > 0 && !coarsening_ && bytes_ < max_bytes_ / 4) --coarseness_;
  }

  // Forgets all histograms. Their owners discard them.
  void clear() {
    bytes_ = 0;
    coarseness_ = 0;
    coarsening_ = false;
    next_to_coarsen = 0;
  }

  // Gives an empty histogram for temporary use.
  Histogram& scratch() {
    scratch_.clear();
    return scratch_;
  }

  // Packs a histogram. The bytes are valid until the next call.
  std::string_view pack(const Histogram& histogram) {
    packed_.clear();
    histogram.pack(packed_);
    return packed_;
  }

 private:
  void coarsen_if_necessary() {
    if (bytes_ <= max_bytes_ - max_bytes_ / 8 || coarseness_ == Histogram::kMaxCoarseness) return;
    ++coarseness_;
    ++coarsenings_;
    coarsening_ = true;
  }

  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  unsigned coarseness_ = 0;
  std::uint64_t coarsenings_ = 0;
  bool coarsening_ = false;
  Histogram scratch_;
  std::string packed_;
};

// Shared by the cumulative histograms of all tags: whether and since when they are kept, and their
// memory limit, which is separate from the window's.
struct CumulativePool {
  explicit CumulativePool(std::size_t max_bytes) : memory(max_bytes) {}

  bool begun = false;
  Instant since{};                  // only valid if begun
  std::int64_t first_interval = 0;  // whose values are kept
  HistogramPool memory;
};

}  // namespace pcp::trace::agent
