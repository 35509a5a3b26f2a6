// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/span_pool.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace pcp::trace::client {

// The black box's layout of a node.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
#define IS_AT(own, boxed) \
  static_assert(offsetof(CapturedSpan, own) == offsetof(wire::box::Node, boxed))
IS_AT(tag, tag);
IS_AT(notes, notes);
IS_AT(context.trace_high, trace_high);
IS_AT(context.own, own);
IS_AT(context.packed, packed);
IS_AT(begin_ns, begin_ns);
IS_AT(value, value);
IS_AT(epoch, epoch);
IS_AT(tid, tid);
IS_AT(kind, kind);
IS_AT(aborted, aborted);
IS_AT(slow_for, slow_for);
#undef IS_AT
#pragma GCC diagnostic pop

void SpanPool::check_layout() {
  static_assert(offsetof(Node, span) == 0 &&
                offsetof(Node, is_live) == offsetof(wire::box::Node, is_live));
}

bool SpanPool::Share::refill() {
  spare_ = pool_.take_free();
  spares_ = spare_ != 0 ? pool_.size(spare_) : 0;
  return spare_ != 0;
}

void SpanPool::Share::give_back(Index list) {
  if (list == 0) return;
  const bool has_notes = (pool_.at(list).marks.load(std::memory_order_relaxed) & kHasNotes) != 0;
  for (Index each = list; each != 0; each = pool_.at(each).next.load(std::memory_order_relaxed)) {
    Node& node = pool_.at(each);
    node.is_live.store(false, std::memory_order_release);
    if (has_notes) node.span.notes.reset();
  }
  const std::uint32_t size = pool_.size(list);
  if (spares_ + size <= kMostSpare && !pool_.is_scarce()) {
    pool_.at(pool_.ends(list).last).next.store(spare_, std::memory_order_relaxed);
    spare_ = list;
    spares_ += size;
  } else {
    pool_.free(list);
  }
  count(given_back_, size);
}

// Counted first: a reader sees no fewer than there are lists.
bool SpanPool::Share::hand_over(Index list, const Facts& facts) {
  constexpr std::uint64_t kNowAndThen = 64;
  Node& first = pool_.at(list);
  first.facts = facts;
  const std::uint64_t before = handed_over();
  count(handed_over_, pool_.size(list));
  Index latest = pool_.lists_.load(std::memory_order_relaxed);
  do {
    first.next_list.store(latest, std::memory_order_relaxed);
  } while (!pool_.lists_.compare_exchange_weak(latest, list, std::memory_order_release,
                                               std::memory_order_relaxed));
  return pool_.is_scarce() && handed_over() / kNowAndThen != before / kNowAndThen;
}

// Shortens a list of free nodes. Gives the rest. Requires: the list is not empty.
SpanPool::Index SpanPool::cut(Index list, std::uint32_t size) {
  Node& first = at(list);
  if (this->size(list) <= size) return 0;
  Node* last = &first;
  Index last_index = list;
  for (std::uint32_t i = 1; i < size; ++i) {
    last_index = last->next.load(std::memory_order_relaxed);
    last = &at(last_index);
  }
  const Index rest = last->next.load(std::memory_order_relaxed);
  Node& first_of_rest = at(rest);
  first_of_rest.last.store(first.last.load(std::memory_order_relaxed), std::memory_order_relaxed);
  first_of_rest.size.store(this->size(list) - size, std::memory_order_relaxed);
  first_of_rest.marks.store(0, std::memory_order_relaxed);
  last->next.store(0, std::memory_order_relaxed);
  first.last.store(last_index, std::memory_order_relaxed);
  first.size.store(size, std::memory_order_relaxed);
  return rest;
}

// Numbers of a list that another thread has taken meanwhile do not come into use: then free_ has
// changed.
SpanPool::Index SpanPool::take_free() {
  const auto in_box = [this](std::size_t bytes) { return box_.map(wire::box::kNodesAt, bytes); };
  if (nodes_.find_or_make(in_box) == nullptr) return 0;
  const std::uint32_t most = is_scarce() ? 1 : kBatch;
  std::uint64_t free = free_.load(std::memory_order_acquire);
  Index list = 0;
  do {
    list = static_cast<Index>(free & 0xFFFF);
    if (list == 0) return take_fresh(most);
  } while (!free_.compare_exchange_weak(
      free,
      changed(free, taken(free) + size(list), at(list).next_list.load(std::memory_order_relaxed)),
      std::memory_order_acquire));
  if (const Index rest = cut(list, most); rest != 0) this->free(rest);
  return list;
}

SpanPool::Index SpanPool::take_fresh(std::uint32_t most) {
  std::uint32_t made = made_.load(std::memory_order_relaxed);
  std::uint32_t more = 0;
  do {
    more = std::min(most, kMost - made);
    if (more == 0) return 0;
  } while (!made_.compare_exchange_weak(made, made + more, std::memory_order_relaxed));
  Index list = 0;
  for (Index index = made + more; index > made; --index) {
    make_list_of_one(at(index), index);
    list = join(index, list);
  }
  std::uint64_t free = free_.load(std::memory_order_relaxed);
  while (!free_.compare_exchange_weak(
      free, changed(free, taken(free) + more, static_cast<Index>(free & 0xFFFF)),
      std::memory_order_relaxed)) {
  }
  return list;
}

void SpanPool::free(Index list) {
  const std::uint32_t size = this->size(list);
  std::uint64_t free = free_.load(std::memory_order_relaxed);
  do {
    at(list).next_list.store(static_cast<Index>(free & 0xFFFF), std::memory_order_relaxed);
  } while (!free_.compare_exchange_weak(free, changed(free, taken(free) - size, list),
                                        std::memory_order_release, std::memory_order_relaxed));
}

void SpanPool::put_before(Index first, const Ends& own, Index second) {
  const Ends other = second != 0 ? ends(second) : Ends{own.last, 0, 0};
  Node& node = at(first);
  at(own.last).next.store(second, std::memory_order_relaxed);
  node.last.store(other.last, std::memory_order_relaxed);
  node.size.store(own.size + other.size, std::memory_order_relaxed);
  node.marks.store(own.marks | other.marks, std::memory_order_relaxed);
}

SpanPool::Index SpanPool::next_list() {
  if (first_ != 0) return first_;
  Index latest = lists_.exchange(0, std::memory_order_acquire);
  while (latest != 0) {
    const Index before = at(latest).next_list.exchange(first_, std::memory_order_relaxed);
    first_ = std::exchange(latest, before);
  }
  return first_;
}

void SpanPool::remove_list() {
  is_settled_.store(false, std::memory_order_relaxed);
  first_ = at(first_).next_list.load(std::memory_order_relaxed);
}

}  // namespace pcp::trace::client
