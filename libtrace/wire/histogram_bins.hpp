// SPDX-License-Identifier: LGPL-2.1-or-later
// Bin numbers of a histogram, in the order of the values, including negative ones. Every power of
// two has 2^5 equal bins; each step of coarseness joins two neighbours, bin >> coarseness.
#pragma once

#include <bit>
#include <cstdint>

namespace pcp::trace::bins {

inline constexpr unsigned kMaxCoarseness = 5;  // one bin for each power of two

// Without coarseness. A negative value's bin is ~(bin of -value).
inline constexpr std::int32_t kLeastNormal = 1 << kMaxCoarseness;
inline constexpr std::int32_t kGreatest = (0x7ff << kMaxCoarseness) - 1;

// A finite value's bin without coarseness: sign, exponent and five bits of the mantissa. Zero and
// subnormal numbers are bin 0.
inline std::int32_t bin_of(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto magnitude = static_cast<std::int32_t>(bits >> 47 & 0xffff);
  if (magnitude < kLeastNormal) return 0;
  return magnitude ^ -static_cast<std::int32_t>(bits >> 63);
}

inline double middle_of(std::int32_t bin, unsigned coarseness) {
  if (bin == 0) return 0;
  const auto magnitude = static_cast<std::uint64_t>(bin < 0 ? ~bin : bin);
  const double middle = std::bit_cast<double>((2 * magnitude + 1) << (46 + coarseness));
  return bin < 0 ? -middle : middle;
}

struct Edges {
  double least;
  double greatest;
};

// The least and the greatest value of a bin.
inline Edges edges_of(std::int32_t bin, unsigned coarseness) {
  if (bin == 0) return {0, 0};
  const auto magnitude = static_cast<std::uint64_t>(bin < 0 ? ~bin : bin);
  const double near = std::bit_cast<double>(magnitude << (47 + coarseness));
  const double far = std::bit_cast<double>(((magnitude + 1) << (47 + coarseness)) - 1);
  return bin < 0 ? Edges{-far, -near} : Edges{near, far};
}

// The greatest distance of a bin's middle from a value in it, relative to the value.
inline constexpr double relative_error(unsigned coarseness) {
  return static_cast<double>(1U << coarseness) / (2U << kMaxCoarseness);
}

}  // namespace pcp::trace::bins
