// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/otlp/exponential_histogram.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "wire/histogram_codec.hpp"

namespace pcp::trace::command::otlp {

namespace {

using Counted = std::pair<std::int32_t, std::uint64_t>;  // a bucket's number, its values

// No middle of a bin is at a bucket's edge, except for rounding at power-of-two edges, which lie
// between bins.
std::int32_t bucket_of(double magnitude, int scale) {
  return static_cast<std::int32_t>(std::floor(std::ldexp(std::log2(magnitude), scale)));
}

std::size_t span_of(const std::vector<Counted>& counted) {
  if (counted.empty()) return 0;
  const auto [least, greatest] = std::minmax_element(counted.begin(), counted.end());
  return static_cast<std::size_t>(greatest->first - least->first) + 1;
}

ExponentialHistogram::Buckets buckets_of(const std::vector<Counted>& counted) {
  ExponentialHistogram::Buckets buckets;
  if (counted.empty()) return buckets;
  buckets.offset = std::min_element(counted.begin(), counted.end())->first;
  buckets.counts.resize(span_of(counted));
  for (const auto& [bucket, count] : counted)
    buckets.counts[static_cast<std::size_t>(bucket - buckets.offset)] += count;
  return buckets;
}

}  // namespace

ExponentialHistogram exponential(const Histogram& histogram) {
  const unsigned coarseness = histogram.coarseness();
  ExponentialHistogram made;
  made.scale = static_cast<int>(bins::kMaxCoarseness - coarseness);
  std::vector<Counted> positive;
  std::vector<Counted> negative;
  std::string packed;
  histogram.pack(packed);
  for_each_packed_bin(packed, [&](std::int32_t bin, std::uint64_t count) {
    const double middle = bins::middle_of(bin, coarseness);
    made.total += count;
    made.sum += middle * static_cast<double>(count);
    if (bin == 0)
      made.zeros += count;
    else
      (bin < 0 ? negative : positive).emplace_back(bucket_of(std::abs(middle), made.scale), count);
  });
  for (; std::max(span_of(positive), span_of(negative)) > kMostBuckets; --made.scale)
    for (auto* const counted : {&positive, &negative})
      for (Counted& each : *counted) each.first >>= 1;
  made.positive = buckets_of(positive);
  made.negative = buckets_of(negative);
  return made;
}

}  // namespace pcp::trace::command::otlp
