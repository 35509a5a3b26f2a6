// SPDX-License-Identifier: LGPL-2.1-or-later
// Where spans wait for filters with slower= or another reason (CaptureSet::slow()).
//
// Such a filter selects transactions by their tags. It wants a selected transaction that was slow,
// with all that is inside of it, and no other. So a span that ends inside of an open selected
// transaction waits in a list there. The end of that transaction takes the list in one step. If the
// transaction was slow, the list goes to the flusher. If fast, the list waits at the next selected
// transaction around, or is given back if there is none. So the flusher never gets a fast tree, and
// no end takes longer in a larger tree.
//
// A slot for each entry of the open table has the list's head: the generation of the transaction
// there, and the list while the transaction is open, or else the captures for which it was slow. A
// span that comes too late finds another generation, of the next transaction in the entry: the
// flusher holds it until its trace is wanted (HeldTraces).
//
// Thread: any, except where said otherwise.
#pragma once

#include <atomic>
#include <cstdint>

#include "open/by_entry.hpp"
#include "open/open_table.hpp"
#include "spans/span_pool.hpp"

namespace pcp::trace::client {

// This stands for a selected transaction around that cannot be found any more.
inline constexpr TreeRef kForgotten = UINT64_MAX;

// Facts about an open transaction that filters with slower= select or have as a part, or that
// captures left out.
struct TreeFacts {
  CaptureBits selected = 0;     // slower= captures with a list here
  TreeRef around = 0;           // the innermost selected transaction around it
  CaptureBits left_out = 0;     // captures that left out this or an enclosing one
  CaptureSet::Epoch epoch = 0;  // of the set of these bits
  std::uint64_t trace_low = 0;  // its trace
};

class SlowTrees {
 public:
  SlowTrees(SpanPool& pool, BlackBox& box) : pool_(pool), box_(box) {}

  // False if there is no memory. Thread: the begin's.
  bool open(std::uint32_t entry, Moment begun, const TreeFacts& facts);

  // Shows a captured transaction to a reader of the black box until it has ended: until its span,
  // if it has one, is in the pool. It may be a reason for these captures. Requires: open() was
  // true. Thread: the begin's; the end's.
  void show(std::uint32_t entry, const Tag& tag, std::uint32_t thread, const TraceContext& context,
            CaptureBits reason_for);
  void hide(std::uint32_t entry, std::uint64_t own);

  struct Snapshot {
    bool is_found = false;
    bool is_open = false;
    TreeRef self = 0;
    TreeFacts facts{};

    // The innermost selected transaction around whatever begins inside.
    TreeRef around_inside() const { return facts.selected != 0 ? self : facts.around; }
  };
  // Also finds an ended transaction until the next one in its entry.
  Snapshot find(std::uint32_t entry, Moment begun) const;

  struct OpenTree {
    std::uint32_t entry;
    Moment begun;
    CaptureBits selected;
    CaptureSet::Epoch epoch;  // of the set of these bits
    std::uint64_t trace_low;
    std::uint32_t reasons;
  };
  // Calls visit(open) for each selected transaction that is open. Looks only at slots of entries
  // that are in use, since a look at a slot of the black box may cost a page.
  template <typename Visit>
  void for_each_open(const OpenEntries& entries, Visit visit) const {
    for (std::uint32_t entry = 0; entry < entries.end_of_numbers(); ++entry) {
      const OpenEntry* const in_use = entries.find(entry);
      if (in_use == nullptr || in_use->begun.load(std::memory_order_relaxed) == 0) continue;
      const Slot* const slot = slots_.find(entry);
      if (slot == nullptr) return;
      const std::uint64_t head = slot->head.load(std::memory_order_acquire);
      const Moment begun = slot->begun.load(std::memory_order_acquire);
      if (!is_open(head) || begun == 0) continue;
      const OpenTree open{entry,
                          begun,
                          slot->selected.load(std::memory_order_acquire),
                          slot->epoch.load(std::memory_order_acquire),
                          slot->trace_low.load(std::memory_order_acquire),
                          reasons_of(head)};
      if (open.selected != 0 && slot->begun.load(std::memory_order_relaxed) == begun) visit(open);
    }
  }

  // Says that a part of those around was slow; as a reason for note().
  static constexpr std::uint32_t kPartWasSlow = wire::kNotedReasons + 1;

  // This transaction, and those around it, have these reasons. True if the first one is open, and
  // did not have them. Thread: any.
  bool note(TreeRef at, std::uint32_t reasons);

  // Ends a selected transaction. False if another thread did that already.
  struct Ending {
    const CaptureSet* set = nullptr;  // null: none
    CaptureBits bits = 0;             // captures that ask for its reasons
    std::uint64_t duration_ns = 0;

    CaptureBits slow(std::uint32_t reasons) const {
      return set != nullptr ? set->slow_ones(bits, duration_ns, reasons) : 0;
    }
  };
  struct WaitingSpans {
    CaptureBits slow = 0;  // captures for which the transaction was slow
    SpanPool::Index list = 0;
    bool has_parts = false;  // some are open
    // Some of its parts are open, or were slow: its trace may be wanted, or is.
    bool may_be_wanted = false;
  };
  bool close(const Snapshot& ended, const Ending& ending, WaitingSpans& waiting);

  // A part of this transaction has ended.
  void note_end_of_part(TreeRef around);

  // Lets a list wait at a transaction, since that time, and with `is_part` notes the end of a part.
  // False if the transaction has ended: then the list is the caller's.
  bool wait(TreeRef at, SpanPool::Index list, bool is_part, std::uint64_t since_ns);

  struct Outcome {
    bool is_open = false;
    bool is_found = false;
    CaptureBits slow = 0;
    TreeRef around = 0;
  };
  Outcome outcome(TreeRef ref) const;

  // Takes each list that waits since `until` or longer. `entries`: of the open table. Thread: the
  // flusher's, also below.
  template <typename Use>
  void take_old(std::uint32_t entries, std::uint64_t until, Use use) {
    for (std::uint32_t entry = 0; entry < entries; ++entry) {
      Slot* const slot = slots_.find(entry);
      if (slot == nullptr) return;
      if (slot->since_ns.load(std::memory_order_relaxed) > until) continue;
      if (const SpanPool::Index list = take_list(*slot); list != 0) use(list);
    }
  }

  // The time since when the oldest list waits; `none` if no list waits.
  std::uint64_t oldest_ns(std::uint32_t entries, std::uint64_t none) const;

 private:
  // Zeros: nothing began here yet.
  struct Slot {
    // Released by each change, acquired by each reader. The generation (32 bits) is odd while the
    // transaction is open: then follow its open parts (9), its reasons (3), how often its list was
    // taken (4), and the list (16). Else follow the captures for which it was slow.
    std::atomic<std::uint64_t> head;
    std::atomic<Moment> begun;    // released after the facts
    std::atomic<TreeRef> around;  // these: released, for readers that then look at head again
    std::atomic<CaptureBits> selected;
    std::atomic<CaptureBits> left_out;
    std::atomic<CaptureSet::Epoch> epoch;
    std::atomic<std::uint64_t> trace_low;
    std::atomic<std::uint64_t> since_ns;  // since when its oldest span waits; orders nothing else
    // For a reader of the black box. The last one is released after the others.
    std::atomic<const Tag*> tag;
    std::atomic<std::uint64_t> trace_high;
    std::atomic<std::uint64_t> parent;
    std::atomic<std::uint64_t> packed;
    std::atomic<std::uint32_t> thread;
    std::atomic<CaptureBits> reason_for;
    std::atomic<std::uint64_t> own;  // 0: it is not open, or not captured
  };
  static void check_layout();

  static TreeRef ref(std::uint32_t entry, std::uint32_t generation) {
    return std::uint64_t{entry} << 32 | generation;
  }
  static std::uint32_t generation_of(std::uint64_t head) {
    return static_cast<std::uint32_t>(head >> 32);
  }
  static bool is_open(std::uint64_t head) { return generation_of(head) % 2 == 1; }
  static SpanPool::Index list_of(std::uint64_t head) { return head & kList; }
  static constexpr std::uint64_t kList = 0xFFFF;
  static constexpr std::uint64_t kTaken = 0xF'0000;  // the number of times wraps
  static constexpr std::uint64_t kOnceTaken = 0x1'0000;
  static std::uint32_t reasons_of(std::uint64_t head) {
    return static_cast<std::uint32_t>(head / kOneReason) & (wire::kNotedReasons | kPartWasSlow);
  }
  static constexpr std::uint64_t kOneReason = 1 << wire::box::kReasonsAt;
  static constexpr std::uint64_t kParts = 0xFF80'0000;
  static constexpr std::uint64_t kOnePart = 0x80'0000;
  static_assert(kOneReason * (wire::kNotedReasons | kPartWasSlow) < kOnePart);
  // The head with a part less. One that ever had very many parts may always have some.
  static std::uint64_t without_part(std::uint64_t head) {
    const std::uint64_t parts = head & kParts;
    return parts == 0 || parts == kParts ? head : head - kOnePart;
  }
  static SpanPool::Index take_list(Slot& slot);
  void note_part(TreeRef around);
  // Null: unknown, or none.
  Slot* slot_of(TreeRef ref) const {
    return ref != 0 && ref != kForgotten ? slots_.find(static_cast<std::uint32_t>(ref >> 32))
                                         : nullptr;
  }

  SpanPool& pool_;
  BlackBox& box_;
  ByEntry<Slot> slots_;  // in the black box
};

}  // namespace pcp::trace::client
