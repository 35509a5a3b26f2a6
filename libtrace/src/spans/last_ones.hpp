// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <new>
#include <unordered_map>

namespace pcp::trace::client {

// A map that keeps its newest entries only.
template <typename Value, std::size_t kMost>
class LastOnes {
 public:
  // Null if not among them; from find_or_make() if there is no memory.
  Value* find(std::uint64_t id) {
    const auto found = values_.find(id);
    return found != values_.end() ? &found->second : nullptr;
  }
  Value* find_or_make(std::uint64_t id) {
    if (Value* const known = find(id)) return known;
    try {
      in_order_.push_back(id);  // first: an id without a value does no harm
      Value& made = values_[id];
      if (in_order_.size() > kMost) {
        values_.erase(in_order_.front());
        in_order_.pop_front();
      }
      return &made;
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }

  void clear() {
    values_ = {};
    in_order_ = {};
  }

 private:
  std::unordered_map<std::uint64_t, Value> values_;
  std::deque<std::uint64_t> in_order_;
};

}  // namespace pcp::trace::client
