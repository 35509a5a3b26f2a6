// SPDX-License-Identifier: LGPL-2.1-or-later
// A map that keeps its newest entries only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>

namespace pcp::trace::client {

template <typename Value, std::size_t kMost>
class LastOnes {
 public:
  // Null if not among them.
  Value* find(std::uint64_t id) {
    const auto found = values_.find(id);
    return found != values_.end() ? &found->second : nullptr;
  }
  Value& find_or_make(std::uint64_t id) {
    const auto [found, is_new] = values_.try_emplace(id);
    if (!is_new) return found->second;
    in_order_.push_back(id);
    if (in_order_.size() > kMost) {
      values_.erase(in_order_.front());
      in_order_.pop_front();
    }
    return found->second;
  }

 private:
  std::unordered_map<std::uint64_t, Value> values_;
  std::deque<std::uint64_t> in_order_;
};

}  // namespace pcp::trace::client
