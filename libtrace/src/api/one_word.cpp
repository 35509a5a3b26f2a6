// SPDX-License-Identifier: LGPL-2.1-or-later
// A transaction in one word, for a binding that has no more to keep it in: Java's, where an object
// with more would have to be made for each, and native memory would be lost with each that nobody
// ends. The word is looked up and checked, so any number may come back: one that does not stand for
// an open transaction gives one that is not open.
//
// The tag is left out. From the top: 0, 23 bits with the number of the entry plus one, and the low
// 40 of the moment; or 1 and the moment, where there is no entry.
//
// The trace of one that has one is kept beside its entry (kept_traces.hpp).
#include <cstdint>

#include "api/open_transaction.hpp"
#include "process/client.hpp"
#include "record/kept_traces.hpp"

using namespace pcp::trace::client;

namespace {

constexpr unsigned kMomentBits = 40;
constexpr std::uint64_t kMomentMask = (std::uint64_t{1} << kMomentBits) - 1;
constexpr std::uint64_t kNoEntry = std::uint64_t{1} << 63;
static_assert(std::uint64_t{OpenRoom::kMostBlocks} * OpenRoom::kInBlock < 1u << 22);
static_assert(OpenTable::kIsAttached == 4, "java/native/trace_jni.c");

}  // namespace

extern "C" {

// Gives 0 for one that is not open.
std::uint64_t pcp_trace_to_word(const pmtrace_tx* tx) {
  const OpenTransaction open = read(tx);
  if (open.tag == nullptr) return 0;
  if (OpenTable::is_entry(open.place)) {
    const std::uint32_t number = OpenTable::entry_at(open.place)->number;
    if ((open.place & OpenTable::kMarks) != 0)
      keep_trace(number, {open.begun, open.place, context_of(tx)});
    return std::uint64_t{number + 1} << kMomentBits | (open.begun & kMomentMask);
  }
  // Its end will not know that it was counted.
  if (Recorder* const recorder = known_recorder())
    recorder->leave(OpenTable::without_marks(open.place), open.tag, open.begun);
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
  if (const auto kept = find_trace(number, begun)) {
    write(tx, {tag, begun, kept->place});
    write_context(tx, kept->context);
  } else {
    write(tx, {tag, begun, reinterpret_cast<OpenTable::Place>(entry)});
  }
}

}  // extern "C"
