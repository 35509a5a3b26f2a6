// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/batch_shares.hpp"

#include <algorithm>
#include <cmath>

namespace pcp::trace::agent {

BatchShares::BatchShares(const wire::BatchAge& age, const WindowClock& clock, std::int64_t current,
                         Instant now) {
  const std::int64_t oldest = current - clock.buckets() + 1;
  const Duration visible = std::max(now - clock.begin_of(oldest), Duration{0});
  const auto visible_ns = static_cast<std::uint64_t>(visible.count());
  const std::uint64_t last = std::min(age.last_ns, age.first_ns);
  const std::uint64_t first = std::min(age.first_ns, visible_ns);
  if (last > visible_ns) return;

  const auto interval_of = [&](std::uint64_t ns_ago) {
    const Instant time = now - Duration{static_cast<std::int64_t>(ns_ago)};
    return std::clamp(clock.interval_at(time), oldest, current);
  };
  if (age.first_ns == last) {
    shares_[count_++] = {interval_of(last), 0, 1};
    return;
  }
  const double records_from = static_cast<double>(age.first_ns);
  const double records_span = static_cast<double>(age.first_ns - last);
  const auto share_at = [&](std::uint64_t ns_ago) {
    return (records_from - static_cast<double>(ns_ago)) / records_span;
  };
  const std::int64_t begin = interval_of(first);
  const std::int64_t intervals = interval_of(last) - begin + 1;
  const std::int64_t pieces = std::min(intervals, kMost);
  const auto age_of = [&](std::int64_t interval) {
    const Duration ago = std::max(now - clock.begin_of(interval), Duration{0});
    return std::clamp(static_cast<std::uint64_t>(ago.count()), last, first);
  };
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    const std::int64_t from = begin + intervals * piece / pieces;
    const std::int64_t to = begin + intervals * (piece + 1) / pieces;
    shares_[count_++] = {from + (to - from) / 2, share_at(piece == 0 ? first : age_of(from)),
                         share_at(piece + 1 == pieces ? last : age_of(to))};
  }
}

std::uint64_t part_of(std::uint64_t count, double from, double to) {
  const auto up_to = [count](double share) {
    if (share >= 1) return count;
    return std::min(count,
                    static_cast<std::uint64_t>(std::round(static_cast<double>(count) * share)));
  };
  return up_to(to) - up_to(from);
}

WindowSums part_of(const Delta& delta, const BatchShare& share) {
  const std::uint64_t finite = delta.count - delta.nonfinite;
  const std::uint64_t finite_part = part_of(finite, share.from, share.to);
  WindowSums part;
  part.nonfinite = part_of(delta.nonfinite, share.from, share.to);
  part.count = finite_part + part.nonfinite;
  if (finite_part == 0) return part;
  part.sum = delta.sum;
  if (is_known_sum(delta.sum))
    part.sum *= static_cast<double>(finite_part) / static_cast<double>(finite);
  part.min = delta.min;
  part.max = delta.max;
  return part;
}

}  // namespace pcp::trace::agent
