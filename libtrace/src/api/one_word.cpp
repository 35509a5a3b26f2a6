// SPDX-License-Identifier: LGPL-2.1-or-later
// A transaction as one 64-bit word, for Java. A larger object per transaction would be garbage, and
// native memory would leak without an end. The word is checked, so any number is safe: one without
// an open transaction gives a closed one.
//
// The tag is left out. From the top bit: 0, 0 (Java's own bit: its Native.ATTACHED), the entry's
// number plus one (22 bits), the low 40 bits of the moment; or, without an entry, 1 and the moment.
//
// A trace is kept beside the entry (kept_traces.hpp).
#include <cstdint>

#include "api/open_tx.hpp"
#include "process/client.hpp"
#include "spans/kept_traces.hpp"

using namespace pcp::trace::client;

namespace {

constexpr unsigned kMomentBits = 40;
constexpr std::uint64_t kMomentMask = (std::uint64_t{1} << kMomentBits) - 1;
constexpr std::uint64_t kNoEntry = std::uint64_t{1} << 63;
static_assert(std::uint64_t{OpenEntries::kMostBlocks} * OpenEntries::kInBlock < 1u << 22);
static_assert(OpenTable::kIsAttached == 4, "java/native/trace_jni.c");

}  // namespace

extern "C" {

// Gives 0 for a transaction that is not open.
std::uint64_t pcp_trace_to_word(const pmtrace_tx* tx) {
  const OpenTransaction open = read(tx);
  if (open.tag == nullptr) return 0;
  if (OpenTable::is_entry(open.begun.ref)) {
    const std::uint32_t number = OpenTable::entry_at(open.begun.ref)->number;
    if ((open.begun.ref & OpenTable::kMarks) != 0) keep_trace(number, {open.begun, context_of(tx)});
    return std::uint64_t{number + 1} << kMomentBits | (open.begun.moment & kMomentMask);
  }
  // Uncounts the begin now: at the end the word would not tell that it was counted.
  if (Recorder* const recorder = known_recorder())
    recorder->leave(open.tag, {open.begun.moment, OpenTable::without_marks(open.begun.ref)});
  return kNoEntry | open.begun.moment;
}

void pcp_trace_from_word(std::uint64_t word, pmtrace_handle tag, pmtrace_tx* tx) {
  *tx = {};
  Client* const client = Client::get_if_made();
  if (word == 0 || client == nullptr) return;
  const OpenEntries& entries = client->recorders().open_entries();
  if ((word & kNoEntry) != 0) {
    const Moment begun = word & ~kNoEntry;
    if (entries.may_have_begun(begun)) write(tx, {tag, {begun, OpenTable::kNoRef}});
    return;
  }
  // Entry bits of 0 become the greatest number, which has no entry.
  const auto number = static_cast<std::uint32_t>((word >> kMomentBits) - 1);
  OpenEntry* const entry = entries.find(number);
  if (entry == nullptr) return;
  // Pairs with the release in OpenTable::enter_run(): the word may have come without any order.
  const Moment begun = entry->begun.load(std::memory_order_acquire);
  if (begun == 0 || (begun & kMomentMask) != (word & kMomentMask)) return;
  if (const auto kept = find_trace(number, begun)) {
    write(tx, {tag, kept->begun});
    write_context(tx, kept->context);
  } else {
    write(tx, {tag, {begun, reinterpret_cast<OpenTable::Ref>(entry)}});
  }
}

}  // extern "C"
