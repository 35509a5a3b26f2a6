// SPDX-License-Identifier: LGPL-2.1-or-later
// The ids of the last traces that were added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <utility>

namespace pcp::trace::command {

class RecentTraces {
 public:
  using Id = std::pair<std::uint64_t, std::uint64_t>;  // high and low half

  static constexpr std::size_t kMost = 10'000;

  explicit RecentTraces(std::size_t most = kMost) : most_(most) {}

  bool contain(Id id) const { return ids_.contains(id); }
  void add(Id id) {
    if (!ids_.insert(id).second) return;
    in_order_.push_back(id);
    if (in_order_.size() <= most_) return;
    ids_.erase(in_order_.front());
    in_order_.pop_front();
  }

 private:
  std::size_t most_;
  std::set<Id> ids_;
  std::deque<Id> in_order_;
};

}  // namespace pcp::trace::command
