// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mmv/mmv_window.hpp"

#include <algorithm>
#include <new>

namespace pcp::trace::client {

MmvWindow::Part& MmvWindow::part_of(std::uint64_t number) {
  Part& part = parts_[number % kParts];
  if (part.number != number) {
    part.number = number;
    part.min = std::numeric_limits<double>::infinity();
    part.max = -std::numeric_limits<double>::infinity();
    part.histogram.clear();
  }
  return part;
}

void MmvWindow::add(double value, std::uint64_t number) {
  Part& part = part_of(number);
  part.min = std::min(part.min, value);
  part.max = std::max(part.max, value);
  try {
    part.histogram.add(value);
  } catch (const std::bad_alloc&) {
  }
}

void MmvWindow::add(const Delta& delta, std::uint64_t number) {
  if (delta.min > delta.max) return;
  Part& part = part_of(number);
  part.min = std::min(part.min, delta.min);
  part.max = std::max(part.max, delta.max);
}

bool MmvWindow::has_values(std::uint64_t now) const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [now](const Part& part) { return part.is_in_window(now); });
}

// A quantile is the middle of a bin, so it is clamped to the exact extrema.
MmvWindow::Values MmvWindow::values(std::uint64_t now) const {
  Values values;
  Histogram all;
  double all_min = std::numeric_limits<double>::infinity();
  double all_max = -all_min;
  for (const Part& part : parts_) {
    if (!part.is_in_window(now)) continue;
    values.min = all_min = std::min(all_min, part.min);
    values.max = all_max = std::max(all_max, part.max);
    all.merge(part.histogram);
  }
  if (all.empty()) return values;
  for (std::size_t i = 0; i < kQuantiles.size(); ++i)
    values.quantiles[i] = std::clamp(all.quantile(kQuantiles[i]), values.min, values.max);
  return values;
}

}  // namespace pcp::trace::client
