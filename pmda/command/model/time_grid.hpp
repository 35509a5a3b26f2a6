// SPDX-License-Identifier: LGPL-2.1-or-later
// The intervals by which the course of a run is shown, and which of them a time belongs to.
//
// Thread: one.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "command/model/model.hpp"

namespace pcp::trace::command {

// Makes a grid of at most so many points out of the samples of each archive. Where one archive
// follows the other it has their very samples as edges.
Grid make_grid(const std::vector<std::vector<Moment>>& samples, std::size_t most_points);

class TimeGrid {
 public:
  explicit TimeGrid(const Grid& grid) : edges_(grid.edges), is_covered_(grid.points()) {}

  std::size_t points() const { return is_covered_.size(); }

  // The time that is meant from now on: after `from`, up to `to`.
  void set(Moment from, Moment to);

  // Notes that something is known of that time.
  void cover();
  bool is_covered(std::size_t point) const { return is_covered_[point]; }

  // Calls function(point, share of the time that is meant) for each point that has some of it.
  template <typename Function>
  void for_each_share(Function function) const {
    for (std::size_t i = 0; i < shares_.size(); ++i) function(first_ + i, shares_[i]);
  }

  // The point in which the time ends; nothing if it lies outside.
  std::optional<std::size_t> last() const;

 private:
  const std::vector<Moment>& edges_;
  std::vector<bool> is_covered_;
  Moment from_{};
  Moment to_{};
  std::size_t first_ = 0;
  std::vector<double> shares_;
};

}  // namespace pcp::trace::command
