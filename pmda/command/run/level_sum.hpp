// SPDX-License-Identifier: LGPL-2.1-or-later
// A level over the points of a grid, such as the number of open transactions: each archive says it
// only when it changes, and those of several archives add up.
//
// Thread: one.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace pcp::trace::command {

class LevelSum {
 public:
  // The present archive says a level, which holds from this point on. Points do not go back.
  void set(std::size_t point, double level);

  // The archive's last sample before a gap: what follows is unknown until it is said.
  void interrupt(std::size_t point);

  // The archive's last sample of all.
  void finish_archive(std::size_t point);

  // Gives as many points, NaN where an archive did not know; empty if no archive said anything.
  std::vector<float> finish(std::size_t points);

 private:
  void fill_before(std::size_t point);

  std::vector<double> sums_;
  std::optional<double> level_;  // of the present archive; NaN: unknown; nothing: no such tag yet
  std::size_t next_ = 0;         // the first point without it
};

}  // namespace pcp::trace::command
