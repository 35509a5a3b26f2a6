// SPDX-License-Identifier: LGPL-2.1-or-later
#include "thread/recorders.hpp"

#include <new>

#include "platform/wiped_memory.hpp"

namespace pcp::trace::client {

Recorder* Recorders::reuse_or_make() {
  Recorder* recorder = nullptr;
  for_each([&](Recorder& each) {
    if (recorder == nullptr && each.try_take_over()) recorder = &each;
  });
  if (recorder == nullptr) recorder = make();
  if (recorder == nullptr) return nullptr;
  if (!recorder->make_usable()) {
    recorder->give_up();  // to the next try
    return nullptr;
  }
  recorder->note_thread();
  return recorder;
}

Recorder* Recorders::make() {
  void* memory = allocate_wiped_memory(sizeof(Recorder));
  if (memory == nullptr) return nullptr;
  auto* const recorder = new (memory) Recorder(shared_, doorbell_, capacity_, trace_options_);
  recorder->next = first_.load(std::memory_order_relaxed);
  while (!first_.compare_exchange_weak(recorder->next, recorder)) {
  }
  return recorder;
}

// Reads what was given back first: each of those is then found as taken.
std::uint64_t Recorders::spans_in_use() {
  const SpanPool::Share& flushers = shared_.spans().flushers_share();
  std::uint64_t given_back = flushers.given_back();
  for_each([&](const Recorder& each) { given_back += each.spans().given_back(); });
  std::uint64_t taken = flushers.taken();
  for_each([&](const Recorder& each) { taken += each.spans().taken(); });
  return taken - given_back;
}

std::uint64_t Recorders::spans_handed_over() {
  std::uint64_t count = shared_.spans().flushers_share().handed_over();
  for_each([&](const Recorder& each) { count += each.spans().handed_over(); });
  return count;
}

bool Recorders::has_settled_spans() { return spans_in_use() == 0 && shared_.spans().has_settled(); }

void Recorders::clear_open() {
  for_each([](Recorder& each) { each.open().clear(); });
  shared_.open_entries().clear_counts();
}

Recorders::Calls Recorders::calls() const {
  Calls calls;
  for_each([&](Recorder& each) {
    calls.recorded += each.recorded();
    calls.merged += each.merged();
  });
  return calls;
}

}  // namespace pcp::trace::client
