// SPDX-License-Identifier: LGPL-2.1-or-later
// The traces that a thread works in: a stack of attached transactions, innermost last. New
// transactions of the thread are inside of the innermost. The usual thread has none, and a begin
// checks only is_plain().
//
// A transaction is attached when it begins, and removed when it ends. If it ended on another
// thread, it is removed when it becomes the innermost, unless attached by hand. A tag whose
// transactions end out of order, or on another thread without detach, is no parent from then on: a
// missing parent is better than a wrong one. That is said once for each of the two.
//
// Thread: the owner's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "open/open_table.hpp"
#include "spans/random_ids.hpp"
#include "spans/start_trace.hpp"
#include "spans/trace_context.hpp"

namespace pcp::trace::client {

class ThreadTrace {
 public:
  explicit ThreadTrace(const TraceOptions& options);

  // A new thread owns this.
  void change_thread(bool is_main);

  // True if new transactions are in no trace.
  bool is_plain() const { return is_plain_; }

  // The parent of a transaction.
  struct Parent {
    TraceContext context;  // the new transaction's, still without an id
    Begun around{};        // the parent's, its ref with marks
  };

  // The parent of transactions that begin now.
  Parent innermost() {
    return stack_ != nullptr && stack_->depth > 0 ? find_innermost() : Parent{};
  }

  // Begins a trace; no trace if there is no memory.
  TraceContext begin_trace() {
    if (!has_stack()) return {};
    RandomIds& ids = stack_->ids;
    const std::uint64_t high = ids.make();
    const std::uint64_t low = ids.make();
    return {.trace_high = high, .trace_low = low, .own = ids.make(), .packed = kRandomFlag};
  }
  bool always_begins_traces() const { return options_.always_ids; }

  // An id for a part of a trace; 0 if there is no memory.
  std::uint64_t make_id() { return has_stack() ? stack_->ids.make() : 0; }

  // Puts new transactions of this thread inside of this one until it ends. Gives its ref, with
  // kIsAttached if attached. Inlined: a part of each traced begin.
  [[gnu::always_inline]] OpenTable::Ref attach_begun(const OpenTransaction& open,
                                                     const TraceContext& context) {
    const bool shadows_nothing = !context.is_trace() && (stack_ == nullptr || stack_->depth == 0);
    if (shadows_nothing || !OpenTable::is_entry(open.begun.ref) || !has_stack())
      return open.begun.ref;
    const bool is_parent = !open.tag->does_not_nest.load(std::memory_order_relaxed);
    push({is_parent ? context : TraceContext{}, open, false});
    return open.begun.ref | OpenTable::kIsAttached;
  }

  // Ends a marked transaction. Gives its ref without marks.
  OpenTable::Ref leave(const OpenTransaction& open);

  // Attaches by hand: until detached, or ended on this thread. False if there is no memory.
  bool attach(const OpenTransaction& open, const TraceContext& context);
  // Without a tag (it has ended and its memory is cleared): detaches the innermost of those
  // attached by hand that have ended.
  void detach(const OpenTransaction& open);

 private:
  struct StackEntry {
    TraceContext context;  // no trace: transactions inside have no parent
    OpenTransaction open;  // without a tag: the start trace
    bool by_hand;
  };
  // In wiped memory, made at the first attach. If full, the outermost is dropped.
  struct Stack {
    std::array<StackEntry, 48> attached;
    std::size_t depth;
    RandomIds ids;
  };

  // False if there is no memory for a stack.
  bool has_stack() { return stack_ != nullptr || make_stack(); }
  bool make_stack();
  void push(const StackEntry& attached) {
    if (stack_->depth == stack_->attached.size()) erase(0);
    stack_->attached[stack_->depth++] = attached;
    note_plain();
  }
  void erase(std::size_t at);
  Parent find_innermost();
  bool is_over(const StackEntry& attached) const;
  static bool has_ended(const StackEntry& attached);

  static constexpr std::size_t kNotFound = SIZE_MAX;
  std::size_t find(const OpenTransaction& open) const;
  std::size_t find_ended_by_hand() const;

  void note_plain() {
    is_plain_ = !options_.always_ids && (stack_ == nullptr || stack_->depth == 0);
  }

  const TraceOptions& options_;
  Stack* stack_ = nullptr;
  bool is_plain_;
};

}  // namespace pcp::trace::client
