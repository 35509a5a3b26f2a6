// SPDX-License-Identifier: LGPL-2.1-or-later
// The C API for notes on captured transactions. For other transactions these calls do nothing.
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

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

bool has_notes() {
  const Client* const client = Client::get_if_made();
  return client != nullptr && client->options().notes;
}

// Calls add(notes), unless the transaction ended through another copy. Also if notes are off.
template <typename Add>
void with_marks(const pmtrace_tx* tx, Add add) {
  const OpenTransaction open = read(tx);
  const OpenEntry& entry = *OpenTable::entry_at(open.begun.ref);
  if (entry.begun.load(std::memory_order_relaxed) != open.begun.moment) return;
  std::unique_ptr<SpanNotes> notes = take_or_make_notes(entry.number, open.begun.moment);
  if (notes == nullptr) return;
  add(*notes);
  put_back_notes(entry.number, std::move(notes));
}

template <typename Add>
void with_notes(const pmtrace_tx* tx, Add add) {
  if (has_notes()) with_marks(tx, add);
}

[[gnu::cold]] int note(const pmtrace_tx* tx, const char* key, std::string_view text,
                       std::optional<double> number) {
  const std::string_view name = cut(key, wire::kMaxAttributeKeyLength + 1);
  if (name.empty() || name.size() > wire::kMaxAttributeKeyLength) return -EINVAL;
  with_notes(tx, [&](SpanNotes& notes) { notes.add(name, text, number); });
  return 0;
}

void note_reason(const pmtrace_tx* tx, const char* reason) {
  if (!is_captured(tx)) return;
  with_notes(
      tx, [&](SpanNotes& notes) { notes.set_reason(cut(reason, wire::kMaxAttributeTextLength)); });
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
  with_marks(tx, [why](SpanNotes& notes) {
    notes.set_wanted();
    if (why != nullptr && has_notes())
      notes.add("wanted", cut(why, wire::kMaxAttributeTextLength), {});
  });
  if (Recorder* const recorder = find_recorder()) recorder->want(read(tx));
  return 0;
}

PMTRACE_EXPORT int pmtrace_link(pmtrace_tx* tx, const char* traceparent) {
  if (!is_captured(tx)) [[likely]]
    return 0;
  const auto linked = parse_traceparent(cut(traceparent, kLongestHeader));
  if (!linked) return -EINVAL;
  with_notes(tx, [&](SpanNotes& notes) {
    notes.add_link({{linked->trace_high, linked->trace_low}, linked->parent});
  });
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
