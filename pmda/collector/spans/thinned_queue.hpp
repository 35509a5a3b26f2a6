// SPDX-License-Identifier: LGPL-2.1-or-later
// A queue that also allows removal from the middle. Keys grow. Removed entries are holes (values
// that convert to false); there are never many more holes than values.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

namespace pcp::trace::agent {

template <typename Value>
class ThinnedQueue {
 public:
  struct Entry {
    std::uint64_t key;
    Value value;
  };

  bool empty() const { return values_ == 0; }
  std::size_t size() const { return values_; }

  // Requires: the greatest key so far, and a value that is no hole.
  void push(std::uint64_t key, Value value) {
    assert(entries_.empty() || entries_.back().key < key);
    entries_.push_back({key, std::move(value)});
    ++values_;
  }

  // Requires: not empty.
  const Entry& front() const { return entries_.front(); }
  Value pop_front() { return remove(entries_.begin()); }

  // Removes the value with this key; returns a hole if there is none.
  Value remove(std::uint64_t key) {
    const auto found = first_from(key);
    if (found == entries_.end() || found->key != key || !found->value) return {};
    return remove(found);
  }

  // Calls visit(entry) for each value from this key on, until visit() returns false.
  template <typename Visit>
  void each_from(std::uint64_t key, Visit visit) const {
    auto next = std::lower_bound(entries_.begin(), entries_.end(), key, is_before);
    for (; next != entries_.end(); ++next)
      if (next->value && !visit(*next)) return;
  }

  // The number of values from this key on, or slightly more.
  std::size_t count_from(std::uint64_t key) const {
    const auto first = std::lower_bound(entries_.begin(), entries_.end(), key, is_before);
    return std::min(values_, static_cast<std::size_t>(entries_.end() - first));
  }

 private:
  using Entries = std::deque<Entry>;

  static constexpr std::size_t kFewHoles = 64;

  static bool is_before(const Entry& entry, std::uint64_t key) { return entry.key < key; }

  typename Entries::iterator first_from(std::uint64_t key) {
    if (!entries_.empty() && entries_.front().key == key) return entries_.begin();  // usual
    return std::lower_bound(entries_.begin(), entries_.end(), key, is_before);
  }

  Value remove(typename Entries::iterator entry) {
    Value taken = std::exchange(entry->value, Value{});
    --values_;
    while (!entries_.empty() && !entries_.front().value) entries_.pop_front();
    if (entries_.size() > 2 * values_ + kFewHoles)
      std::erase_if(entries_, [](const Entry& each) { return !each.value; });
    return taken;
  }

  Entries entries_;  // the first entry is no hole
  std::size_t values_ = 0;
};

}  // namespace pcp::trace::agent
