// SPDX-License-Identifier: LGPL-2.1-or-later
// A distribution in OTLP's form: bucket i of scale s has the values above 2^(i / 2^s), up to
// 2^((i + 1) / 2^s).
//
// Ours have equal bins within a power of two. Each is counted in the bucket of its middle, always
// the same one: so sums and differences of converted distributions are as exact as ours. At scale 5
// a value may be in the bucket beside its own: the middle of the bucket with a quantile is at most
// 2.7% away from it, and the bounds, to which servers may interpolate, at most 3.8%.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/histogram.hpp"

namespace pcp::trace::command::otlp {

// Servers get this many buckets of a sign at most; the scale is reduced until they suffice.
inline constexpr std::size_t kMostBuckets = 1024;

struct ExponentialHistogram {
  struct Buckets {
    std::int32_t offset = 0;  // the number of the first bucket
    std::vector<std::uint64_t> counts;
  };

  int scale = 0;
  std::uint64_t total = 0;
  std::uint64_t zeros = 0;
  double sum = 0;    // from the bins' middles: at most 1.6% off for values of one sign
  Buckets positive;  // values by their magnitude
  Buckets negative;
};

ExponentialHistogram exponential(const Histogram& histogram);

}  // namespace pcp::trace::command::otlp
