// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record/kept_traces.hpp"

#include <array>
#include <atomic>
#include <bit>

#include "fork/wiped_memory.hpp"
#include "record/errno_stays.hpp"

namespace pcp::trace::client {
namespace {

using KeptWords = std::array<std::uint64_t, 6>;  // the place and the context

// Who has an old number sees another moment, before or after.
struct KeptSlot {
  std::atomic<Moment> begun;
  std::array<std::atomic<std::uint64_t>, std::tuple_size_v<KeptWords>> words;
};
using KeptTraces = std::array<KeptSlot, std::size_t{OpenRoom::kMostBlocks} * OpenRoom::kInBlock>;

std::atomic<KeptTraces*> kept_traces{nullptr};  // released by who makes it

KeptTraces* make_kept_traces() {
  KeptTraces* slots = kept_traces.load(std::memory_order_acquire);
  if (slots != nullptr) return slots;
  const ErrnoStays errno_stays;
  auto* const made = static_cast<KeptTraces*>(allocate_wiped_memory(sizeof(KeptTraces)));
  if (made == nullptr) return nullptr;
  // Another thread may be faster; then what was made is lost, once.
  return kept_traces.compare_exchange_strong(slots, made, std::memory_order_acq_rel) ? made : slots;
}

struct PlaceAndContext {
  OpenTable::Place place;
  TraceContext context;
};
static_assert(sizeof(PlaceAndContext) == sizeof(KeptWords));

}  // namespace

void keep_trace(std::uint32_t entry, const KeptTrace& trace) {
  KeptTraces* const slots = make_kept_traces();
  if (slots == nullptr) return;
  KeptSlot& slot = (*slots)[entry];
  const auto words = std::bit_cast<KeptWords>(PlaceAndContext{trace.place, trace.context});
  slot.begun.store(0, std::memory_order_relaxed);
  for (std::size_t i = 0; i < words.size(); ++i)
    slot.words[i].store(words[i], std::memory_order_release);
  slot.begun.store(trace.begun, std::memory_order_release);
}

std::optional<KeptTrace> find_trace(std::uint32_t entry, Moment begun) {
  KeptTraces* const slots = kept_traces.load(std::memory_order_acquire);
  if (slots == nullptr) return {};
  const KeptSlot& slot = (*slots)[entry];
  if (slot.begun.load(std::memory_order_acquire) != begun) return {};
  KeptWords words;
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = slot.words[i].load(std::memory_order_acquire);
  if (slot.begun.load(std::memory_order_relaxed) != begun) return {};
  const auto [place, context] = std::bit_cast<PlaceAndContext>(words);
  return KeptTrace{begun, place, context};
}

}  // namespace pcp::trace::client
