// SPDX-License-Identifier: LGPL-2.1-or-later
// The memory of all captured spans of a process, and their way to the flusher.
//
// A span is a node of the pool and belongs to one list at a time. A list is known by the index of
// its first node, which also knows its last node and its length: two lists are joined, and a list
// is given back, in one step. An atomic word has room for an index and a count, but not for an
// address and a count.
//
// Each thread has a share, with a few free nodes of its own. So threads meet only where a tree is
// larger than that, or is handed over.
//
// The nodes lie in the black box: a node is live there from make() until it is given back.
//
// Thread: any, except where the flusher's is named.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "platform/wiped_memory.hpp"
#include "spans/black_box.hpp"
#include "spans/capture_set.hpp"
#include "spans/span_notes.hpp"
#include "spans/trace_context.hpp"
#include "tags/tag_registry.hpp"

namespace pcp::trace::client {

// A captured transaction or event, as the program's threads make it.
struct CapturedSpan {
  const Tag* tag = nullptr;
  std::unique_ptr<SpanNotes> notes{};  // null: none
  TraceContext context{};              // with its capture bits
  std::uint64_t begin_ns = 0;          // by the monotonic clock
  std::uint64_t duration_ns = 0;       // of spans
  double value = 0;                    // of events
  CaptureSet::Epoch epoch = 0;         // of the set that defines its bits
  std::uint32_t tid = 0;
  wire::SpanKind kind = wire::SpanKind::Internal;
  bool aborted = false;
  CaptureBits slow_for = 0;  // captures for which it was slow, when it ended

  CaptureBits capture_bits() const { return context.capture_bits(); }

  // True if its trace is known in another process, too.
  bool crosses() const { return kind == wire::SpanKind::Client || context.is_parent_elsewhere(); }

  // The id of the transaction around it; 0: none.
  std::uint64_t around() const {
    return wire::is_event(kind) ? context.outgoing() : context.parent;
  }
};

// A transaction that a filter with slower= selects; see SlowTrees. 0: none.
using TreeRef = std::uint64_t;

class SpanPool {
 public:
  static constexpr std::uint32_t kMost = wire::box::kMostNodes;  // 5 MiB

  explicit SpanPool(BlackBox& box) : box_(box) {}

  // A node, or a list by its first node; 0: none.
  using Index = std::uint32_t;

  // Facts for the flusher about a list, kept in its first node.
  struct Facts {
    TreeRef around = 0;  // the innermost selected transaction around all of it
    // Captures for which the first span, or one around that has ended, was slow.
    CaptureBits slow = 0;
    CaptureBits at_once = 0;     // captures that want the first span in any case
    bool may_be_wanted = false;  // the trace, later or elsewhere
  };

  // Puts a list behind another. 0 is an empty list.
  Index join(Index first, Index second) {
    if (first == 0 || second == 0) return first | second;
    put_before(first, ends(first), second);
    return first;
  }

  // join() for a compare-and-swap loop: another thread may take `second` meanwhile. If the swap
  // fails, call put_before() again with the same `own`.
  struct Ends {
    Index last;
    std::uint32_t size;
    std::uint8_t marks;
  };
  Ends ends(Index list) const {
    const Node& first = at(list);
    return {first.last.load(std::memory_order_relaxed), size(list),
            first.marks.load(std::memory_order_relaxed)};
  }
  void put_before(Index first, const Ends& own, Index second);

  // A thread's part of the pool, or the flusher's. Thread: the owner's; its counts: any.
  class Share {
   public:
    explicit Share(SpanPool& pool) : pool_(pool) {}

    // Calls fill(span) and makes a list of this one. 0 if all nodes are in use. Builds the span in
    // its node, since a call waits for that.
    template <typename Fill>
    Index make(Fill fill) {
      if (spare_ == 0 && !refill()) return 0;
      const Index index = spare_;
      Node& node = pool_.at(index);
      spare_ = node.next.load(std::memory_order_relaxed);
      --spares_;
      fill(node.span);
      node.is_live.store(true, std::memory_order_release);
      make_list_of_one(node, index);
      count(taken_, 1);
      return index;
    }

    // Also deletes its spans' notes.
    void give_back(Index list);

    // Calls keep(span) for each span of a list. Gives the list of those for which it was true, and
    // gives back the others. Requires: the caller owns the list.
    template <typename Keep>
    Index filter(Index list, Keep keep) {
      Index kept = 0;
      Index others = 0;
      for (Index next = 0; list != 0; list = next) {
        Node& node = pool_.at(list);
        next = node.next.load(std::memory_order_relaxed);
        make_list_of_one(node, list);
        Index& goes_to = keep(node.span) ? kept : others;
        goes_to = pool_.join(goes_to, list);
      }
      give_back(others);
      return kept;
    }

    // Hands a list over to the flusher. True if the flusher should take lists now.
    bool hand_over(Index list, const Facts& facts);

    // Nodes ever taken, and given back, here. All shares together: the difference is in lists.
    std::uint64_t taken() const { return taken_.load(std::memory_order_acquire); }
    std::uint64_t given_back() const { return given_back_.load(std::memory_order_acquire); }
    // Spans ever handed over here.
    std::uint64_t handed_over() const { return handed_over_.load(std::memory_order_acquire); }

   private:
    using Count = std::atomic<std::uint64_t>;
    static void count(Count& count, std::uint64_t more) {
      count.store(count.load(std::memory_order_relaxed) + more, std::memory_order_release);
    }

    bool refill();

    SpanPool& pool_;
    Index spare_ = 0;  // free nodes, by their `next`
    std::uint32_t spares_ = 0;
    // Released by the owner, acquired by the functions of these names.
    Count taken_{0};
    Count given_back_{0};
    Count handed_over_{0};
  };
  Share& flushers_share() { return flushers_share_; }

  // The list that was handed over first, of those not taken yet; 0: none. Thread: the flusher's.
  Index next_list();
  // Removes the list that next_list() gives.
  void remove_list();

  // Requires: the caller owns the list.
  const Facts& facts(Index list) const { return at(list).facts; }
  CapturedSpan& first(Index list) const { return at(list).span; }
  bool crosses(Index list) const {
    return (at(list).marks.load(std::memory_order_relaxed) & kCrosses) != 0;
  }
  std::uint32_t size(Index list) const { return at(list).size.load(std::memory_order_relaxed); }

  // Nodes in lists, and those that threads have spare: these are few where many are in use.
  std::uint32_t taken() const { return taken(free_.load(std::memory_order_relaxed)); }
  bool is_half_full() const { return taken() > kMost / 2; }

  // `all`: everything taken so far is delivered, or known to be lost. Thread: the flusher's.
  void note_settled(bool all) { is_settled_.store(all, std::memory_order_relaxed); }

  // True if all spans that the flusher took are delivered, or known to be lost. Also in a signal
  // handler. Read it after given_back(): what the flusher has given back it had taken before.
  bool has_settled() const { return is_settled_.load(std::memory_order_relaxed); }

 private:
  // The atomics order nothing. A thread that pushes may read old numbers of a first node: then its
  // push fails.
  struct Node {
    CapturedSpan span;
    Facts facts;
    // These order nothing else.
    std::atomic<Index> next_list;  // of those handed over, or free
    std::atomic<Index> next;
    std::atomic<Index> last;
    std::atomic<std::uint32_t> size;
    std::atomic<std::uint8_t> marks;  // of all in the list
    // For a reader of the black box. Released after the span.
    std::atomic<bool> is_live;
  };
  static_assert(sizeof(Node) == sizeof(wire::box::Node));
  using Nodes = std::array<Node, kMost>;
  static constexpr std::uint8_t kHasNotes = 1;
  static constexpr std::uint8_t kCrosses = 2;

  // A thread takes so many nodes at once, and keeps spare ones, unless nodes are scarce.
  static constexpr std::uint32_t kBatch = 8;
  static constexpr std::uint32_t kMostSpare = 16;
  static constexpr std::uint32_t kScarce = kMost / 4;

  // The free lists: how often this has changed (32 bits), nodes that are not in them (16), the
  // first list (16). Nodes beyond made_ were never used, and are in no list.
  static std::uint32_t taken(std::uint64_t free) { return (free >> 16) & 0xFFFF; }
  static std::uint64_t changed(std::uint64_t free, std::uint32_t taken, Index first) {
    return ((free >> 32) + 1) << 32 | std::uint64_t{taken} << 16 | first;
  }
  static_assert(kMost < 0xFFFF);

  static void check_layout();
  Node& at(Index index) const { return (*nodes_.find())[index - 1]; }
  static void make_list_of_one(Node& node, Index index) {
    node.next.store(0, std::memory_order_relaxed);
    node.last.store(index, std::memory_order_relaxed);
    node.size.store(1, std::memory_order_relaxed);
    node.marks.store(
        (node.span.notes != nullptr ? kHasNotes : 0) | (node.span.crosses() ? kCrosses : 0),
        std::memory_order_relaxed);
  }
  bool is_scarce() const { return taken() > kScarce; }
  Index take_free();
  Index take_fresh(std::uint32_t most);
  void free(Index list);
  Index cut(Index list, std::uint32_t size);

  BlackBox& box_;
  MadeWhenNeeded<Nodes> nodes_;
  std::atomic<std::uint64_t> free_{0};  // released by free(), acquired by take_free()
  std::atomic<std::uint32_t> made_{0};  // orders nothing else
  std::atomic<Index> lists_{0};  // latest first: released by hand_over(), acquired by next_list()
  std::atomic<bool> is_settled_{true};
  Index first_ = 0;  // the flusher's: lists out of lists_, earliest first
  Share flushers_share_{*this};
};

}  // namespace pcp::trace::client
