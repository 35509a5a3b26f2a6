// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/thread_trace.hpp"

#include <algorithm>
#include <new>

#include "platform/guards.hpp"
#include "platform/wiped_memory.hpp"

namespace pcp::trace::client {

ThreadTrace::ThreadTrace(const TraceOptions& options) : options_(options) { note_plain(); }

void ThreadTrace::change_thread(bool is_main) {
  if (stack_ != nullptr) stack_->depth = 0;
  if (is_main && options_.start.is_trace() && is_at_start() && has_stack())
    push({options_.start, {}, true});
  note_plain();
}

bool ThreadTrace::make_stack() {
  const ErrnoStays errno_stays;
  void* const memory = allocate_wiped_memory(sizeof(Stack));
  if (memory != nullptr) stack_ = new (memory) Stack;
  return stack_ != nullptr;
}

void ThreadTrace::erase(std::size_t at) {
  auto* const first = stack_->attached.data();
  std::move(first + at + 1, first + stack_->depth, first + at);
  --stack_->depth;
  note_plain();
}

bool ThreadTrace::is_over(const StackEntry& attached) const {
  if (attached.open.tag == nullptr) return !is_at_start();
  return !attached.by_hand && has_ended(attached);
}

bool ThreadTrace::has_ended(const StackEntry& attached) {
  const OpenEntry* const entry = OpenTable::entry_at(attached.open.begun.ref);
  return entry->begun.load(std::memory_order_relaxed) != attached.open.begun.moment;
}

ThreadTrace::Parent ThreadTrace::find_innermost() {
  while (stack_->depth > 0) {
    const StackEntry& top = stack_->attached[stack_->depth - 1];
    if (!is_over(top)) return {top.context.inside(), top.open.begun};
    if (!top.by_hand) top.open.tag->does_not_nest.store(true, std::memory_order_relaxed);
    erase(stack_->depth - 1);
  }
  return {};
}

std::size_t ThreadTrace::find(const OpenTransaction& open) const {
  const OpenTable::Ref ref = OpenTable::without_marks(open.begun.ref);
  std::size_t at = stack_ != nullptr ? stack_->depth : 0;
  while (at > 0) {
    const StackEntry& each = stack_->attached[--at];
    if (OpenTable::without_marks(each.open.begun.ref) == ref &&
        each.open.begun.moment == open.begun.moment)
      return at;
  }
  return kNotFound;
}

// Gives the innermost.
std::size_t ThreadTrace::find_ended_by_hand() const {
  for (std::size_t at = stack_ != nullptr ? stack_->depth : 0; at-- > 0;) {
    const StackEntry& each = stack_->attached[at];
    if (each.by_hand && each.open.tag != nullptr && has_ended(each)) return at;
  }
  return kNotFound;
}

OpenTable::Ref ThreadTrace::leave(const OpenTransaction& open) {
  const std::size_t at = (open.begun.ref & OpenTable::kIsAttached) != 0 ? find(open) : kNotFound;
  if (at != kNotFound) {
    const auto* const first = stack_->attached.data();
    if (std::any_of(first + at + 1, first + stack_->depth,
                    [this](const StackEntry& inner) { return !inner.by_hand && !is_over(inner); }))
      open.tag->does_not_nest.store(true, std::memory_order_relaxed);
    erase(at);
  }
  return OpenTable::without_marks(open.begun.ref);
}

bool ThreadTrace::attach(const OpenTransaction& open, const TraceContext& context) {
  detach(open);
  if (!context.is_trace() && (stack_ == nullptr || stack_->depth == 0)) return true;
  if (!OpenTable::is_entry(open.begun.ref) || !has_stack()) return false;
  push({context, open, true});
  return true;
}

void ThreadTrace::detach(const OpenTransaction& open) {
  const std::size_t at = open.tag != nullptr ? find(open) : find_ended_by_hand();
  if (at != kNotFound) erase(at);
}

}  // namespace pcp::trace::client
