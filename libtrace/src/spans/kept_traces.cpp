// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/kept_traces.hpp"

#include <array>
#include <atomic>
#include <bit>

#include "open/by_entry.hpp"

namespace pcp::trace::client {
namespace {

using KeptWords = std::array<std::uint64_t, 6>;  // the ref and the context

// A reader with an outdated number sees a different `begun` before or after reading the words: each
// word is released after `begun` was cleared, and acquired before `begun` is read again.
struct KeptSlot {
  std::atomic<Moment> begun;  // released after the words
  std::array<std::atomic<std::uint64_t>, std::tuple_size_v<KeptWords>> words;
};
ByEntry<KeptSlot> kept_traces;

struct RefAndContext {
  OpenTable::Ref ref;
  TraceContext context;
};
static_assert(sizeof(RefAndContext) == sizeof(KeptWords));

}  // namespace

void keep_trace(std::uint32_t entry, const Traced& trace) {
  KeptSlot* const found = kept_traces.find_or_make(entry);
  if (found == nullptr) return;
  KeptSlot& slot = *found;
  const auto words = std::bit_cast<KeptWords>(RefAndContext{trace.begun.ref, trace.context});
  slot.begun.store(0, std::memory_order_relaxed);
  for (std::size_t i = 0; i < words.size(); ++i)
    slot.words[i].store(words[i], std::memory_order_release);
  slot.begun.store(trace.begun.moment, std::memory_order_release);
}

std::optional<Traced> find_trace(std::uint32_t entry, Moment begun) {
  const KeptSlot* const found = kept_traces.find(entry);
  if (found == nullptr) return {};
  const KeptSlot& slot = *found;
  if (slot.begun.load(std::memory_order_acquire) != begun) return {};
  KeptWords words;
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = slot.words[i].load(std::memory_order_acquire);
  if (slot.begun.load(std::memory_order_relaxed) != begun) return {};
  const auto [ref, context] = std::bit_cast<RefAndContext>(words);
  return Traced{{begun, ref}, context};
}

}  // namespace pcp::trace::client
