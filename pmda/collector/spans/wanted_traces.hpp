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
#include <tuple>
#include <vector>

#include "wire/events.hpp"

namespace pcp::trace::agent {

struct Wanted {
  wire::WantedTrace trace;
  std::uint64_t number = 0;     // of the captures that its capture bits are of
  unsigned monitors = 0;        // that brought it from other hosts, one after the other
  const void* giver = nullptr;  // the last one of these; only to be compared
};

// A monitor takes it from one host and stores it at the others. Nobody takes one that two monitors
// have brought, so nothing goes around for ever.
struct PassedTrace {
  static constexpr unsigned kMostMonitors = 2;

  std::uint64_t hash = 0;
  unsigned monitors = 0;  // including this one

  bool operator==(const PassedTrace&) const = default;
};

class WantedTraces {
 public:
  static constexpr std::size_t kMost = 4'096;

  // Several processes of a trace may want it. One that comes through fewer monitors is news: more
  // monitors take it.
  void add(Wanted wanted) {
    for (unsigned fewer = 0; fewer <= wanted.monitors; ++fewer)
      if (const auto known = bits_.find({wanted.trace.hash, wanted.number, fewer});
          known != bits_.end())
        wanted.trace.capture_bits &= ~known->second;
    if (wanted.trace.capture_bits == 0) return;
    bits_[key_of(wanted)] |= wanted.trace.capture_bits;
    wanted_.push_back(wanted);
    if (wanted_.size() <= kMost) return;
    const Wanted& oldest = wanted_.front();
    const auto found = bits_.find(key_of(oldest));
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
    for (auto next = bits_.lower_bound({hash, 0, 0});
         next != bits_.end() && std::get<0>(next->first) == hash; ++next)
      all.push_back({{hash, next->second}, std::get<1>(next->first)});
    return all;
  }

  bool has_lost(std::uint64_t number) const { return number < gone_; }

 private:
  using CaptureBits = wire::CaptureBits;
  using Key = std::tuple<std::uint64_t, std::uint64_t, unsigned>;  // hash, number, monitors

  static Key key_of(const Wanted& wanted) {
    return {wanted.trace.hash, wanted.number, wanted.monitors};
  }

  std::deque<Wanted> wanted_;
  std::map<Key, CaptureBits> bits_;  // of all that are there
  std::uint64_t gone_ = 0;           // the first one's number
};

}  // namespace pcp::trace::agent
