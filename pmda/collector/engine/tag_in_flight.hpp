// SPDX-License-Identifier: LGPL-2.1-or-later
// The open transactions of one tag, as its processes report them, and the number of transactions
// that disappeared with their process.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <set>

#include "collector/engine/types.hpp"
#include "wire/delta.hpp"

namespace pcp::trace::agent {

// Adding or removing a share takes time logarithmic in their number; reading takes constant time.
class TagInFlight {
 public:
  // Requires: there is no share of this holder.
  void enter(const OpenShare& share) {
    shares_.insert(share);
    open_ += share.open;
  }

  // Requires: this share was entered.
  void leave(const OpenShare& share) {
    const auto entered = shares_.find(share);
    assert(entered != shares_.end() && entered->open == share.open);
    open_ -= entered->open;
    shares_.erase(entered);
  }

  void vanish(std::uint64_t open) { add_calls(vanished_, open); }

  bool is_empty() const { return shares_.empty() && vanished_ == 0; }

  void copy_to(TagValues::InFlight& values, Instant now) const {
    values.vanished = vanished_;
    values.open = open_;
    if (shares_.empty()) return;
    const OpenShare& oldest = *shares_.begin();
    values.oldest_age = std::max(now - oldest.began, Duration{0});
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
  std::uint64_t open_ = 0;  // of all shares
  std::uint64_t vanished_ = 0;
};

}  // namespace pcp::trace::agent
