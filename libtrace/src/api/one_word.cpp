// SPDX-License-Identifier: LGPL-2.1-or-later
// A transaction in one word, for a binding that has no more to keep it in: Java's, where an object
// with more would have to be made for each, and native memory would be lost with each that nobody
// ends. The word is looked up and checked, so any number may come back: one that does not stand for
// an open transaction gives one that is not open.
//
// The tag is left out. From the top: 0, 23 bits with the number of the entry plus one, and the low
// 40 of the moment; or 1 and the moment, where there is no entry.
//
// The trace of one that has one is kept by the number of its entry, in memory that is made when the
// first comes.
#include <array>
#include <atomic>
#include <cstdint>

#include "api/open_transaction.hpp"
#include "fork/wiped_memory.hpp"
#include "process/client.hpp"
#include "record/errno_stays.hpp"

using namespace pcp::trace::client;

namespace {

// The words of a transaction that has a trace, and when it began. Written by the thread that begins
// it, before anybody knows its word; who has an old word sees another moment, before or after.
struct Traced {
  std::atomic<Moment> begun;
  std::array<std::atomic<std::uint64_t>, 6> words;  // from the place on
};
using TracedEntries = std::array<Traced, std::size_t{OpenRoom::kMostBlocks} * OpenRoom::kInBlock>;

std::atomic<TracedEntries*> traced_entries{nullptr};  // released by who makes it

TracedEntries* make_traced_entries() {
  TracedEntries* entries = traced_entries.load(std::memory_order_acquire);
  if (entries != nullptr) return entries;
  const ErrnoStays errno_stays;
  auto* const made = static_cast<TracedEntries*>(allocate_wiped_memory(sizeof(TracedEntries)));
  if (made == nullptr) return nullptr;
  // Another thread may be faster; then what was made is lost, once.
  return traced_entries.compare_exchange_strong(entries, made, std::memory_order_acq_rel) ? made
                                                                                          : entries;
}

[[gnu::noinline]] void keep_trace(std::uint32_t number, const pmtrace_tx* tx) {
  TracedEntries* const entries = make_traced_entries();
  if (entries == nullptr) return;
  Traced& traced = (*entries)[number];
  traced.begun.store(0, std::memory_order_relaxed);
  for (std::size_t i = 0; i < traced.words.size(); ++i)
    traced.words[i].store(tx->opaque[2 + i], std::memory_order_release);
  traced.begun.store(tx->opaque[1], std::memory_order_release);
}

void find_trace(std::uint32_t number, pmtrace_tx* tx) {
  TracedEntries* const entries = traced_entries.load(std::memory_order_acquire);
  if (entries == nullptr) return;
  const Traced& traced = (*entries)[number];
  const Moment begun = tx->opaque[1];
  if (traced.begun.load(std::memory_order_acquire) != begun) return;
  pmtrace_tx found = *tx;
  for (std::size_t i = 0; i < traced.words.size(); ++i)
    found.opaque[2 + i] = traced.words[i].load(std::memory_order_acquire);
  if (traced.begun.load(std::memory_order_relaxed) == begun) *tx = found;
}

constexpr unsigned kMomentBits = 40;
constexpr std::uint64_t kMomentMask = (std::uint64_t{1} << kMomentBits) - 1;
constexpr std::uint64_t kNoEntry = std::uint64_t{1} << 63;
static_assert(std::uint64_t{OpenRoom::kMostBlocks} * OpenRoom::kInBlock < 1u << 22);

}  // namespace

extern "C" {

// Gives 0 for one that is not open.
std::uint64_t pcp_trace_to_word(const pmtrace_tx* tx) {
  const OpenTransaction open = read(tx);
  if (open.tag == nullptr) return 0;
  if (OpenTable::is_entry(open.place)) {
    const std::uint32_t number = OpenTable::entry_at(open.place)->number;
    if ((open.place & OpenTable::kMarks) != 0) keep_trace(number, tx);
    return std::uint64_t{number + 1} << kMomentBits | (open.begun & kMomentMask);
  }
  // Its end will not know that it was counted.
  if (Recorder* const recorder = known_recorder())
    recorder->leave(open.place, open.tag, open.begun);
  return kNoEntry | open.begun;
}

void pcp_trace_from_word(std::uint64_t word, pmtrace_handle tag, pmtrace_tx* tx) {
  *tx = {};
  Client* const client = Client::get_if_made();
  if (word == 0 || client == nullptr) return;
  const OpenRoom& room = client->recorders().open_room();
  if ((word & kNoEntry) != 0) {
    const Moment begun = word & ~kNoEntry;
    if (room.may_have_begun(begun)) write(tx, {tag, begun, OpenTable::kNowhere});
    return;
  }
  // Zero has become the greatest number.
  const auto number = static_cast<std::uint32_t>((word >> kMomentBits) - 1);
  OpenEntry* const entry = room.entry(number);
  if (entry == nullptr) return;
  const Moment begun = entry->begun.load(std::memory_order_relaxed);
  if (begun == 0 || (begun & kMomentMask) != (word & kMomentMask)) return;
  write(tx, {tag, begun, reinterpret_cast<OpenTable::Place>(entry)});
  find_trace(number, tx);
}

}  // extern "C"
