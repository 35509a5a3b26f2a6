// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/thread_trace.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <string>

#include "platform/diagnostics.hpp"
#include "platform/guards.hpp"
#include "platform/wiped_memory.hpp"

namespace pcp::trace::client {
namespace {

std::string quoted(const Tag& tag) { return '"' + std::string(name_of(tag)) + '"'; }

// Says why, the first time in a process that a tag's transactions are no parents any more.
template <typename MakeReason>
[[gnu::cold]] void disown(const Tag& tag, std::atomic<bool>& is_said, MakeReason reason) {
  if (tag.does_not_nest.exchange(true, std::memory_order_relaxed)) return;
  complain_once(is_said, [&] {
    return quoted(tag) + " ended " + reason() +
           ". From now on no transaction of this tag is a parent: its parts are not in its trace";
  });
}

[[gnu::cold]] void disown_as_ended_elsewhere(const Tag& tag) {
  static std::atomic<bool> is_said{false};  // a message's flag: orders nothing else
  disown(tag, is_said, [] {
    return "on another thread than it began on: its own thread must call pmtrace_detach before, in "
           "C++ running.detach()";
  });
}

[[gnu::cold]] void disown_as_out_of_order(const Tag& tag, const Tag& inner) {
  static std::atomic<bool> is_said{false};  // the same
  disown(tag, is_said, [&] {
    return "before " + quoted(inner) +
           ", which began later on its thread: end that first, or if requests take turns on a "
           "thread, call pmtrace_detach after each begin, in C++ running.detach()";
  });
}

}  // namespace

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
    if (!top.by_hand) disown_as_ended_elsewhere(*top.open.tag);
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
    const auto* const end = first + stack_->depth;
    const auto* const inner = std::find_if(first + at + 1, end, [this](const StackEntry& each) {
      return !each.by_hand && !is_over(each);
    });
    if (inner != end) disown_as_out_of_order(*open.tag, *inner->open.tag);
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

// For Java, which keeps what is attached to a virtual thread (its Attachments.java).
extern "C" {

int pcp_trace_nests(const pcp::trace::client::Tag* tag) {
  return tag->does_not_nest.load(std::memory_order_relaxed) ? 0 : 1;
}

// `inner`: null if the transaction ended on another thread.
void pcp_trace_disown(const pcp::trace::client::Tag* tag, const pcp::trace::client::Tag* inner) {
  if (inner != nullptr)
    pcp::trace::client::disown_as_out_of_order(*tag, *inner);
  else
    pcp::trace::client::disown_as_ended_elsewhere(*tag);
}

}  // extern "C"
