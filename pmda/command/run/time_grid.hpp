// SPDX-License-Identifier: LGPL-2.1-or-later
// The intervals for a run's course, and their overlap with a given time.
//
// Thread: one.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "command/run/model.hpp"

namespace pcp::trace::command {

// Makes a grid of at most `most_points` points from each archive's samples. If the archives do not
// overlap, the edges are samples.
Grid make_grid(const std::vector<std::vector<WallTime>>& samples, std::size_t most_points);

class TimeGrid {
 public:
  explicit TimeGrid(const Grid& grid) : edges_(grid.edges), is_covered_(grid.points()) {}

  std::size_t points() const { return is_covered_.size(); }

  // Sets the present time range: after `from`, up to `to`.
  void set(WallTime from, WallTime to);

  // Marks the points of the present range as known.
  void cover();
  bool is_covered(std::size_t point) const { return is_covered_[point]; }

  // Calls function(point, share) for each point that overlaps the present range.
  template <typename Function>
  void for_each_share(Function function) const {
    for (std::size_t i = 0; i < shares_.size(); ++i) function(first_ + i, shares_[i]);
  }

  // The point in which the range ends; nothing if outside the grid.
  std::optional<std::size_t> last() const;

 private:
  const std::vector<WallTime>& edges_;
  std::vector<bool> is_covered_;
  WallTime from_{};
  WallTime to_{};
  std::size_t first_ = 0;
  std::vector<double> shares_;
};

}  // namespace pcp::trace::command
