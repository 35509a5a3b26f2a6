// SPDX-License-Identifier: LGPL-2.1-or-later
// In which traces a thread works: the transactions of traces that are attached to it, the innermost
// last. What begins on the thread is inside of that one. Where there is none, which is the usual
// case, a begin looks no further than at is_plain().
//
// A transaction is attached when it begins, and taken out when it ends. One that was ended on
// another thread is found out when its turn comes, unless it was attached by hand. A program that
// does this without detaching it first, or that ends transactions out of order, does not nest them:
// other transactions of this tag are no parents from then on, since no parent is better than a
// wrong one.
//
// Thread: the owner's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "record/open_table.hpp"
#include "record/random_ids.hpp"
#include "record/start_trace.hpp"
#include "record/trace_context.hpp"

namespace pcp::trace::client {

class ThreadTrace {
 public:
  using Place = OpenTable::Place;

  // Which transaction: it is open as long as its entry says so.
  struct Open {
    const Tag* tag;
    Place place;
    Moment begun;
  };

  explicit ThreadTrace(const TraceOptions& options);

  // The thread is another one than before.
  void change_thread(bool is_main);

  // What begins is in no trace.
  bool is_plain() const { return is_plain_; }

  // What a transaction is a part of.
  struct Inside {
    TraceContext context;                // its own, but for an id; no trace: of nothing
    Place around = OpenTable::kNowhere;  // of what it is a part of, with marks
    Moment around_begun = 0;             // since when that was open
  };

  // What those are a part of that begin now.
  Inside innermost() {
    return stack_ != nullptr && stack_->depth > 0 ? find_innermost() : Inside{};
  }

  // A trace begins, if there is memory for it. As does one that is begun for want of any other.
  TraceContext begin_trace() {
    if (!has_stack()) return {};
    RandomIds& ids = stack_->ids;
    const std::uint64_t high = ids.make();
    const std::uint64_t low = ids.make();
    return {.trace_high = high, .trace_low = low, .own = ids.make(), .packed = kRandomFlag};
  }
  bool always_begins_traces() const { return options_.always_ids; }

  // For what is a part of a trace; 0 if there is no memory.
  std::uint64_t make_id() { return has_stack() ? stack_->ids.make() : 0; }

  // What begins on this thread from now on is inside of this, until it ends. Gives its place, with
  // a mark.
  Place attach_begun(const Open& open, const TraceContext& context) {
    const bool shadows_nothing = !context.is_trace() && (stack_ == nullptr || stack_->depth == 0);
    if (shadows_nothing || !OpenTable::is_entry(open.place) || !has_stack()) return open.place;
    const bool is_parent = !open.tag->is_no_parent.load(std::memory_order_relaxed);
    push({is_parent ? context : TraceContext{}, open.place, open.begun, open.tag, false});
    return open.place | OpenTable::kIsAttached;
  }

  // One that was marked ends. Gives its place without marks.
  Place end(const Open& open);

  // By hand: stays until it is detached, or ended on this thread. False if there is no memory.
  bool attach(const Open& open, const TraceContext& context);
  // Without a tag it has ended, and its memory tells no more which it was: the innermost of those
  // attached by hand that have.
  void detach(const Open& open);

 private:
  struct Attached {
    TraceContext context;  // no trace: what is inside is a part of nothing
    Place place;           // nowhere: the process's start
    Moment begun;
    const Tag* tag;
    bool by_hand;
  };
  // In wiped memory, made when the first one is attached. Where there is no room for another one
  // the outermost goes.
  struct Stack {
    std::array<Attached, 48> attached;
    std::size_t depth;
    RandomIds ids;
  };

  // False if there is no memory for one.
  bool has_stack() { return stack_ != nullptr || make_stack(); }
  bool make_stack();
  void push(const Attached& attached) {
    if (stack_->depth == stack_->attached.size()) erase(0);
    stack_->attached[stack_->depth++] = attached;
    note_plain();
  }
  void erase(std::size_t at);
  Inside find_innermost();
  bool is_over(const Attached& attached) const;
  static bool has_ended(const Attached& attached);

  static constexpr std::size_t kNowhere = SIZE_MAX;
  std::size_t find(const Open& open) const;
  std::size_t find_ended_by_hand() const;

  void note_plain() {
    is_plain_ = !options_.always_ids && (stack_ == nullptr || stack_->depth == 0);
  }

  const TraceOptions& options_;
  Stack* stack_ = nullptr;
  bool is_plain_;
};

}  // namespace pcp::trace::client
