// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/level_sum.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace pcp::trace::command {

void LevelSum::set(std::size_t point, double level) {
  fill_before(point);
  level_ = level;
}

void LevelSum::interrupt(std::size_t point) {
  fill_before(point + 1);
  if (level_) level_ = std::numeric_limits<double>::quiet_NaN();
}

void LevelSum::finish_archive(std::size_t point) {
  fill_before(point + 1);
  level_.reset();
  next_ = 0;
}

std::vector<float> LevelSum::finish(std::size_t points) {
  std::vector<float> sums;
  if (sums_.empty()) return sums;
  sums_.resize(points);
  for (const double each : sums_) sums.push_back(static_cast<float>(each));
  return sums;
}

// NaN and another number are NaN.
void LevelSum::fill_before(std::size_t point) {
  if (level_) {
    if (point > sums_.size()) sums_.resize(point);
    for (std::size_t i = next_; i < point; ++i) sums_[i] += *level_;
  }
  next_ = std::max(next_, point);
}

}  // namespace pcp::trace::command
