// SPDX-License-Identifier: LGPL-2.1-or-later
// Deals the values of a packed histogram to several histograms, each value to one of them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "wire/histogram.hpp"

namespace pcp::trace {

class DealtHistogram {
 public:
  // Requires: a valid packed histogram.
  explicit DealtHistogram(std::string_view packed);

  std::uint64_t total() const { return total_; }
  std::uint64_t left() const { return left_; }

  // Moves values to `to`, evenly from those left, until `until` of all values are dealt. False,
  // with nothing changed, if `to` would count more than Histogram::kMaxTotal.
  bool deal(std::uint64_t until, Histogram& to);

 private:
  struct Bin {
    std::int32_t number;
    std::uint64_t count;
  };

  std::uint64_t due(std::uint64_t until) const;
  template <typename Take>
  void take(std::uint64_t count, Take take);

  unsigned coarseness_ = 0;
  std::vector<Bin> bins_;  // values left
  std::uint64_t total_ = 0;
  std::uint64_t left_ = 0;
  double phase_ = 0.5;
};

}  // namespace pcp::trace
