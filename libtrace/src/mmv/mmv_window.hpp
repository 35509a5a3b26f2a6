// SPDX-License-Identifier: LGPL-2.1-or-later
// One tag's finite values of the last minute: extrema and percentiles. It consists of parts; the
// oldest part leaves as a new one begins.
//
// Thread: the flusher's.
#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "wire/delta.hpp"
#include "wire/histogram.hpp"

namespace pcp::trace::client {

class MmvWindow {
 public:
  static constexpr std::uint64_t kPartNs = 12'000'000'000;
  static constexpr std::uint64_t kParts = 5;
  static constexpr std::array<double, 5> kQuantiles{0.5, 0.9, 0.95, 0.99, 0.999};

  // NaN: no values, or for quantiles none that came through a queue.
  struct Values {
    static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    double min = kNone;
    double max = kNone;
    std::array<double, kQuantiles.size()> quantiles{kNone, kNone, kNone, kNone, kNone};
  };

  // The number of the part that covers this time.
  static std::uint64_t part_at(std::uint64_t ns) { return ns / kPartNs; }

  // Without memory the value is in no percentile.
  void add(double value, std::uint64_t part);

  // Adds the extrema of values that were added up elsewhere.
  void add(const Delta& delta, std::uint64_t part);

  // True if a part that the window still has at `part` has values.
  bool has_values(std::uint64_t part) const;

  Values values(std::uint64_t part) const;

 private:
  struct Part {
    std::uint64_t number = 0;
    double min = std::numeric_limits<double>::infinity();
    double max = -std::numeric_limits<double>::infinity();
    Histogram histogram;

    bool is_in_window(std::uint64_t now) const { return min <= max && number + kParts > now; }
  };

  Part& part_of(std::uint64_t number);

  std::array<Part, kParts> parts_;
};

}  // namespace pcp::trace::client
