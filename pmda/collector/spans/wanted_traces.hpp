// SPDX-License-Identifier: LGPL-2.1-or-later
// The last traces that captures with slower= want whole, numbered in order of arrival.
//
// A value type.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "wire/events.hpp"

namespace pcp::trace::agent {

struct Wanted {
  wire::WantedTrace trace;
  std::uint64_t number = 0;  // of the captures that its capture bits are of
  bool is_from_elsewhere = false;
};

class WantedTraces {
 public:
  static constexpr std::size_t kMost = 4'096;

  // Several processes of a trace may want it.
  void add(Wanted wanted) {
    CaptureBits& known = bits_[{wanted.trace.hash, wanted.number}];
    wanted.trace.capture_bits &= ~known;
    if (wanted.trace.capture_bits == 0) return;
    known |= wanted.trace.capture_bits;
    wanted_.push_back(wanted);
    if (wanted_.size() <= kMost) return;
    const Wanted& oldest = wanted_.front();
    const auto found = bits_.find({oldest.trace.hash, oldest.number});
    if ((found->second &= ~oldest.trace.capture_bits) == 0) bits_.erase(found);
    wanted_.pop_front();
    ++gone_;
  }

  // The number of the next one.
  std::uint64_t end() const { return gone_ + wanted_.size(); }

  // Gives those from this number on, as far as they are there, and moves the number to the end.
  std::vector<Wanted> from(std::uint64_t& number) const {
    const std::uint64_t first = std::max(number, gone_) - gone_;
    number = end();
    return {wanted_.begin() + static_cast<std::ptrdiff_t>(first), wanted_.end()};
  }
  // Those of this trace.
  std::vector<Wanted> of(std::uint64_t hash) const {
    std::vector<Wanted> all;
    for (auto next = bits_.lower_bound({hash, 0}); next != bits_.end() && next->first.first == hash;
         ++next)
      all.push_back({{hash, next->second}, next->first.second});
    return all;
  }

  bool has_lost(std::uint64_t number) const { return number < gone_; }

 private:
  using CaptureBits = wire::CaptureBits;

  std::deque<Wanted> wanted_;
  // By hash and number; of all that are there.
  std::map<std::pair<std::uint64_t, std::uint64_t>, CaptureBits> bits_;
  std::uint64_t gone_ = 0;  // the first one's number
};

}  // namespace pcp::trace::agent
