// SPDX-License-Identifier: LGPL-2.1-or-later
// The C API for notes on captured transactions. For other transactions these calls do nothing.
#include <cerrno>
#include <cstring>
#include <string_view>

#include "api/api.hpp"
#include "api/open_tx.hpp"
#include "process/client.hpp"
#include "spans/span_notes.hpp"
#include "spans/trace_context.hpp"

using namespace pcp::trace;
using namespace pcp::trace::client;

namespace {

std::string_view cut(const char* text, std::size_t most) {
  return text != nullptr ? std::string_view(text, ::strnlen(text, most)) : std::string_view();
}

bool is_captured(const pmtrace_tx* tx) {
  return tx != nullptr && (tx->opaque[2] & OpenTable::kIsCaptured) != 0;
}

// Null if the transaction ended through another copy. If notes are off, there are no texts.
SpanNotes* marks_of(const pmtrace_tx* tx) {
  const OpenTransaction open = read(tx);
  const OpenEntry& entry = *OpenTable::entry_at(open.begun.ref);
  if (entry.begun.load(std::memory_order_relaxed) != open.begun.moment) return nullptr;
  return find_or_make_notes(entry.number, open.begun.moment);
}

// Null also if notes are off.
SpanNotes* notes_of(const pmtrace_tx* tx) {
  const Client* const client = Client::get_if_made();
  return client != nullptr && client->options().notes ? marks_of(tx) : nullptr;
}

[[gnu::cold]] int note(const pmtrace_tx* tx, const char* key, std::string_view text,
                       std::optional<double> number) {
  const std::string_view name = cut(key, wire::kMaxAttributeKeyLength + 1);
  if (name.empty() || name.size() > wire::kMaxAttributeKeyLength) return -EINVAL;
  if (SpanNotes* const notes = notes_of(tx)) notes->add(name, text, number);
  return 0;
}

void note_reason(const pmtrace_tx* tx, const char* reason) {
  if (!is_captured(tx)) return;
  if (SpanNotes* const notes = notes_of(tx))
    notes->set_reason(cut(reason, wire::kMaxAttributeTextLength));
}

}  // namespace

extern "C" {

PMTRACE_EXPORT int pmtrace_is_captured(const pmtrace_tx* tx) { return is_captured(tx) ? 1 : 0; }

PMTRACE_EXPORT int pmtrace_note(pmtrace_tx* tx, const char* key, const char* value) {
  if (!is_captured(tx)) [[likely]]
    return 0;
  return note(tx, key, cut(value, wire::kMaxAttributeTextLength), {});
}

PMTRACE_EXPORT int pmtrace_note_number(pmtrace_tx* tx, const char* key, double value) {
  if (!is_captured(tx)) [[likely]]
    return 0;
  return note(tx, key, {}, value);
}

PMTRACE_EXPORT int pmtrace_want(pmtrace_tx* tx, const char* why) {
  if (!is_captured(tx)) [[likely]]
    return 0;
  if (SpanNotes* const marks = marks_of(tx)) marks->set_wanted();
  if (why != nullptr) note(tx, "wanted", cut(why, wire::kMaxAttributeTextLength), {});
  if (Recorder* const recorder = find_recorder()) recorder->want(read(tx));
  return 0;
}

PMTRACE_EXPORT int pmtrace_link(pmtrace_tx* tx, const char* traceparent) {
  if (!is_captured(tx)) [[likely]]
    return 0;
  const auto linked = parse_traceparent(cut(traceparent, kLongestHeader));
  if (!linked) return -EINVAL;
  if (SpanNotes* const notes = notes_of(tx))
    notes->add_link({{linked->trace_high, linked->trace_low}, linked->parent});
  return 0;
}

PMTRACE_EXPORT int pmtrace_fail(pmtrace_tx* tx, const char* reason) {
  note_reason(tx, reason);
  return pmtrace_abort(tx);
}

PMTRACE_EXPORT int pmtrace_fail_as(pmtrace_tx* tx, pmtrace_handle tag, const char* reason) {
  note_reason(tx, reason);
  return pmtrace_abort_as(tx, tag);
}

}  // extern "C"
