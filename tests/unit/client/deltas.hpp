// SPDX-License-Identifier: LGPL-2.1-or-later
// Deltas as whole values.
#pragma once

#include <ostream>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "wire/delta.hpp"

namespace pcp::trace {

inline auto numbers_of(const Delta& delta) {
  return std::make_tuple(delta.count, delta.nonfinite, delta.unbinned, delta.sum, delta.min,
                         delta.max, delta.last);
}
inline bool operator==(const Delta& one, const Delta& other) {
  return numbers_of(one) == numbers_of(other);
}
inline void PrintTo(const Delta& delta, std::ostream* out) {
  *out << testing::PrintToString(numbers_of(delta));
}

inline Delta delta_of(const std::vector<double>& values, std::uint64_t unbinned = 0) {
  Delta delta;
  for (const double value : values) delta.add(value);
  delta.unbinned = unbinned;
  return delta;
}

}  // namespace pcp::trace
