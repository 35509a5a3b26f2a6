// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/level_sum.hpp"

#include <algorithm>
#include <limits>

namespace pcp::trace::command {

void LevelSum::set(std::size_t tag, std::size_t point, double level) {
  const auto [found, is_new] = levels_.try_emplace(tag, Level{level, point});
  if (is_new) return;
  fill_before(found->second, point);
  found->second.value = level;
}

void LevelSum::interrupt(std::size_t point) {
  for (auto& [tag, level] : levels_) {
    fill_before(level, point + 1);
    level.value = std::numeric_limits<double>::quiet_NaN();
  }
}

void LevelSum::finish_archive(std::size_t point) {
  for (auto& [tag, level] : levels_) fill_before(level, point + 1);
  levels_.clear();
}

std::vector<float> LevelSum::finish(std::size_t points) {
  std::vector<float> sums;
  if (sums_.empty()) return sums;
  sums_.resize(points);
  for (const double each : sums_) sums.push_back(static_cast<float>(each));
  return sums;
}

// NaN and another number are NaN.
void LevelSum::fill_before(Level& level, std::size_t point) {
  if (point > sums_.size()) sums_.resize(point);
  for (std::size_t i = level.next; i < point; ++i) sums_[i] += level.value;
  level.next = std::max(level.next, point);
}

}  // namespace pcp::trace::command
