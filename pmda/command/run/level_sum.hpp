// SPDX-License-Identifier: LGPL-2.1-or-later
// A level over the points of a grid, such as the number of open transactions: an archive gives
// a tag's level only when it changes. Levels of several tags and archives add up.
//
// Thread: one.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace pcp::trace::command {

class LevelSum {
 public:
  // The present archive says a tag's level, which holds from this point on. Points do not go back.
  void set(std::size_t tag, std::size_t point, double level);

  // The archive's last sample before a gap: levels are unknown until the archive gives them again.
  void interrupt(std::size_t point);

  // The archive's last sample of all.
  void finish_archive(std::size_t point);

  // Gives as many points, NaN where an archive did not know; empty if no archive said anything.
  std::vector<float> finish(std::size_t points);

 private:
  struct Level {
    double value = 0;      // NaN: unknown
    std::size_t next = 0;  // the first point without it
  };

  void fill_before(Level& level, std::size_t point);

  std::vector<double> sums_;
  std::unordered_map<std::size_t, Level> levels_;  // of the present archive, by tag
};

}  // namespace pcp::trace::command
