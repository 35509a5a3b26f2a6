// SPDX-License-Identifier: LGPL-2.1-or-later
// The transactions of one tag that were begun and have not ended, as its processes tell of them,
// and how many of those have gone with their process.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <set>

#include "collector/engine/types.hpp"
#include "wire/delta.hpp"

namespace pcp::trace::agent {

// Taking a share in or out costs the logarithm of their number, reading costs the same for any.
class TagInFlight {
 public:
  // Requires: of this holder there is none.
  void enter(const OpenShare& share) {
    shares_.insert(share);
    open_ += share.open;
  }

  // Requires: this one has entered.
  void leave(const OpenShare& share) {
    const auto entered = shares_.find(share);
    assert(entered != shares_.end() && entered->open == share.open);
    open_ -= entered->open;
    shares_.erase(entered);
  }

  void vanish(std::uint64_t open) { add_calls(vanished_, open); }

  bool says_nothing() const { return shares_.empty() && vanished_ == 0; }

  void copy_to(TagValues::InFlight& values, Time now) const {
    values.vanished = vanished_;
    values.open = open_;
    if (shares_.empty()) return;
    const OpenShare& oldest = *shares_.begin();
    values.oldest_age = std::max(now - oldest.began, Time{0});
    values.pid = oldest.pid;
    values.tid = oldest.tid;
  }

 private:
  struct BeganEarlier {
    bool operator()(const OpenShare& a, const OpenShare& b) const {
      return a.began != b.began ? a.began < b.began : a.holder < b.holder;
    }
  };

  std::set<OpenShare, BeganEarlier> shares_;
  std::uint64_t open_ = 0;  // of all of them
  std::uint64_t vanished_ = 0;
};

}  // namespace pcp::trace::agent
