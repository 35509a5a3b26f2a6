// SPDX-License-Identifier: LGPL-2.1-or-later
// A packed histogram whose values are dealt out to several others, each value to one of them.
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

  // Deals until `until` of all values are gone: evenly from those that are left, great and small.
  // False, with nothing changed, if the receiver would count more than Histogram::kMaxTotal.
  bool deal(std::uint64_t until, Histogram& to);

  // The same, but to nobody.
  void drop(std::uint64_t until);

 private:
  struct Bin {
    std::int32_t number;
    std::uint64_t count;
  };

  std::uint64_t due(std::uint64_t until) const;
  template <typename Take>
  void take(std::uint64_t count, Take take);

  unsigned coarseness_ = 0;
  std::vector<Bin> bins_;  // of what is left
  std::uint64_t total_ = 0;
  std::uint64_t left_ = 0;
  double phase_ = 0.5;
};

}  // namespace pcp::trace
