// SPDX-License-Identifier: LGPL-2.1-or-later
// The C API over handles, flush and statistics.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <string>

#include "api/api.hpp"
#include "api/open_tx.hpp"
#include "api/record_call.hpp"
#include "base/clock.hpp"
#include "link/client_options.hpp"
#include "open/moment.hpp"
#include "platform/diagnostics.hpp"
#include "tags/description.hpp"

using namespace pcp::trace;
using namespace pcp::trace::client;

namespace {

// The general begin: also traced, captured, or with a new recorder. `since`: 0 for now.
[[gnu::always_inline]] inline int begin_since(pmtrace_handle tag, pmtrace_tx* tx, Moment since) {
  Recorder* const recorder = tag != nullptr ? find_recorder_unless_off() : nullptr;
  if (recorder == nullptr && (tag == nullptr || is_switched_off())) {
    *tx = {};
    return tag == nullptr ? refuse_null_handle("begin") : 0;
  }
  write(tx, tag,
        recorder == nullptr ? Traced{{since != 0 ? since : present_moment(), OpenTable::kNoRef}, {}}
        : since != 0        ? recorder->begin_since(tag, since)
                            : recorder->begin_traced(tag));
  return 0;
}

[[gnu::noinline]] int begin_slowly(pmtrace_handle tag, pmtrace_tx* tx) {
  return begin_since(tag, tx, 0);
}

// Requires: the recorder can begin quickly.
[[gnu::always_inline]] inline int begin_quickly(pmtrace_handle tag, pmtrace_tx* tx,
                                                Recorder& recorder, Moment now) {
  const OpenTable::Ref ref = recorder.begin_quickly(tag, now);
  if (recorder.must_ring()) [[unlikely]] {
    recorder.undo_begin_quickly();
    return begin_slowly(tag, tx);
  }
  write(tx, {tag, {now, ref}});
  return 0;
}

[[gnu::noinline]] int begin_by_clock(pmtrace_handle tag, pmtrace_tx* tx, Recorder& recorder) {
  return begin_quickly(tag, tx, recorder, moment_by_clock());
}

// Separate functions, so that a switched-off call saves no registers for them. Their own calls are
// tail calls for the same reason.
[[gnu::noinline]] int begin_switched_on(pmtrace_handle tag, pmtrace_tx* tx) {
  Recorder* const recorder = known_recorder();
  if (tag == nullptr || recorder == nullptr || !recorder->can_begin_quickly(tag)) [[unlikely]]
    return begin_slowly(tag, tx);
  if (!has_counter()) return begin_by_clock(tag, tx, *recorder);
  return begin_quickly(tag, tx, *recorder, moment_by_counter());
}

// Ends it under the tag `as`.
[[gnu::noinline]] int close_traced(pmtrace_tx* tx, RecordKind kind, const Tag* as) {
  const OpenTransaction open = read(tx);
  const TraceContext context = context_of(tx);
  *tx = {};
  Recorder* const recorder = find_recorder();
  if (recorder == nullptr) return -ENOMEM;
  const double seconds = recorder->end_traced(open, context, kind == RecordKind::Abort, as);
  return record_transaction(*recorder, as, kind, seconds);
}

// Requires: is_open(tx).
[[gnu::always_inline]] inline int close_open_as(pmtrace_tx* tx, RecordKind kind,
                                                const OpenTransaction& open, const Tag* as) {
  if ((open.begun.ref & OpenTable::kMarks) != 0) [[unlikely]]
    return close_traced(tx, kind, as);
  *tx = {};
  // Find the recorder before the clock read: the processor overlaps both. Making a thread's first
  // recorder takes long, so that comes after the clock read, outside the duration.
  Recorder* recorder = known_recorder();
  const Moment now = present_moment();
  if (recorder == nullptr) recorder = find_recorder_slowly();
  if (recorder == nullptr) return -ENOMEM;
  recorder->leave(open.tag, open.begun);
  return record_transaction(*recorder, as, kind, seconds_since(open.begun.moment, now));
}

[[gnu::noinline, gnu::flatten]] int close_open(pmtrace_tx* tx, RecordKind kind) {
  const OpenTransaction open = read(tx);
  return close_open_as(tx, kind, open, open.tag);
}

[[gnu::noinline, gnu::flatten]] int record_switched_on(pmtrace_handle tag, RecordKind kind,
                                                       double value) {
  if (tag == nullptr) return refuse_null_handle(kind);
  Recorder* recorder = find_recorder_unless_off();
  if (recorder != nullptr) [[likely]]
    return record_call(*recorder, tag, kind, value);
  return is_switched_off() ? 0 : -ENOMEM;
}

// A transaction that is open while tracing is switched off leaves its table, but is not recorded.
int close_transaction(pmtrace_tx* tx, RecordKind kind) {
  if (tx == nullptr || !is_open(tx)) [[unlikely]]
    return is_switched_off() ? 0 : refuse(kind, nullptr, PMTRACE_ERR_NOPROGRESS);
  return close_open(tx, kind);
}

// Ends it all the same, under its own tag, which may lack labels.
[[gnu::cold]] int close_as_null(pmtrace_tx* tx, RecordKind kind) {
  const int error = close_transaction(tx, kind);
  if (error != 0 || is_switched_off()) return error;
  note_folded_labels();
  return PMTRACE_ERR_TAGNAME;
}

// The same under another tag.
[[gnu::flatten]] int close_transaction_as(pmtrace_tx* tx, RecordKind kind, const Tag* as) {
  if (as == nullptr) [[unlikely]]
    return close_as_null(tx, kind);
  if (tx == nullptr || !is_open(tx)) [[unlikely]]
    return close_transaction(tx, kind);
  return close_open_as(tx, kind, read(tx), as);
}

std::string description_line(const Tag& tag, std::string_view unit, std::string_view text) {
  std::string line = "description \"" + std::string(tag.text()) + '"';
  if (!unit.empty()) line.append(", unit \"").append(unit) += '"';
  if (!text.empty()) line.append(", text \"").append(text) += '"';
  return line;
}

int record_by_handle(pmtrace_handle tag, RecordKind kind, double value) {
  return is_switched_off() ? 0 : record_switched_on(tag, kind, value);
}

}  // namespace

extern "C" {

// For Python's binding, which finds it by its name: a block of Python looks before it calls.
// NOLINTNEXTLINE(readability-identifier-naming): a name of C's
PMTRACE_EXPORT extern const std::atomic<int>* const pcp_trace_state = &state_flags;

PMTRACE_EXPORT pmtrace_handle pmtrace_tag(const char* name) {
  const std::string_view text(name != nullptr ? name : "",
                              name != nullptr ? ::strnlen(name, kMaxTagLength + 1) : 0);
  if (is_tag(text)) return find_tag(text);
  refuse("tag", name, text.empty() ? PMTRACE_ERR_TAGNAME : PMTRACE_ERR_TAGLENGTH);
  return nullptr;
}

PMTRACE_EXPORT const char* pmtrace_tag_text(pmtrace_handle tag) {
  return tag != nullptr ? tag->text() : nullptr;
}

PMTRACE_EXPORT int pmtrace_point(pmtrace_handle tag) {
  return record_by_handle(tag, RecordKind::Point, 0);
}

PMTRACE_EXPORT int pmtrace_observe(pmtrace_handle tag, double value) {
  return record_by_handle(tag, RecordKind::Observe, value);
}

PMTRACE_EXPORT int pmtrace_count(pmtrace_handle tag, double value) {
  return record_by_handle(tag, RecordKind::Counter, value);
}

PMTRACE_EXPORT int pmtrace_add(pmtrace_handle tag, double increment) {
  if (is_switched_off()) return 0;
  if (!is_increment(increment)) [[unlikely]]
    return refuse_increment(tag != nullptr ? tag->text() : nullptr, increment);
  return record_switched_on(tag, RecordKind::Add, increment);
}

PMTRACE_EXPORT int pmtrace_begin(pmtrace_handle tag, pmtrace_tx* tx) {
  if (tx == nullptr) return -EINVAL;
  if (!is_switched_off()) return begin_switched_on(tag, tx);
  write(tx, {});
  return 0;
}

PMTRACE_EXPORT int pmtrace_begin_at(pmtrace_handle tag, uint64_t start_ns, pmtrace_tx* tx) {
  if (tx == nullptr) return -EINVAL;
  const Moment since = is_switched_off() ? 0 : Recorder::past_moment(start_ns);
  return since != 0 ? begin_since(tag, tx, since) : pmtrace_begin(tag, tx);
}

PMTRACE_EXPORT int pmtrace_end(pmtrace_tx* tx) {
  return close_transaction(tx, RecordKind::Transact);
}

PMTRACE_EXPORT int pmtrace_abort(pmtrace_tx* tx) {
  return close_transaction(tx, RecordKind::Abort);
}

PMTRACE_EXPORT int pmtrace_end_as(pmtrace_tx* tx, pmtrace_handle tag) {
  return close_transaction_as(tx, RecordKind::Transact, tag);
}

PMTRACE_EXPORT int pmtrace_abort_as(pmtrace_tx* tx, pmtrace_handle tag) {
  return close_transaction_as(tx, RecordKind::Abort, tag);
}

PMTRACE_EXPORT int pmtrace_describe(pmtrace_handle tag, const char* unit, const char* text) {
  if (tag == nullptr) return refuse_null_handle("describe");
  const auto view = [](const char* given) {
    return given != nullptr ? std::string_view(given) : std::string_view();
  };
  Client* const client = Client::make_if_asked();
  diagnose(PMTRACE_STATE_API, [&] { return description_line(*tag, view(unit), view(text)); });
  if (!describe(*tag, view(unit), view(text))) return -ENOMEM;
  // Without a client there was no call yet; the first call sends the description.
  if (client != nullptr && !is_switched_off()) client->doorbell().ring_if_asleep();
  return 0;
}

PMTRACE_EXPORT int pmtrace_flush(double timeout) {
  if (has_state(PMTRACE_STATE_NOAGENT)) return 0;
  Client* client = Client::get_if_made();
  if (client == nullptr) return 1;  // nothing was recorded
  if (timeout < 0) return client->deliver_patiently() ? 1 : 0;
  constexpr double kLongest = 1e9;  // seconds; overflows no clock
  const double seconds = std::isnan(timeout) ? 0 : std::min(timeout, kLongest);
  const std::chrono::nanoseconds limit(static_cast<std::int64_t>(seconds * 1e9));
  return client->deliver(limit, Deliveries::Patience::Fixed) ? 1 : 0;
}

PMTRACE_EXPORT int pmtrace_mmv(const char* name) {
  if (name == nullptr || !is_mmv_name({name, ::strnlen(name, 128)})) return -EINVAL;
  if (Client::get_if_made() != nullptr) return -EBUSY;
  const char* const copy = ::strdup(name);
  if (copy == nullptr) return -ENOMEM;
  mmv_name.store(copy, std::memory_order_release);
  return 0;
}

// For bindings to report an invalid tag. Prints only the first text of the process.
PMTRACE_EXPORT void pmtrace_complain_once(const char* text) {
  static std::atomic<bool> is_said{false};
  complain_once(is_said, [&] { return text; });
}

PMTRACE_EXPORT int pmtrace_stats(pmtrace_stats_t* stats, size_t size) {
  if (stats == nullptr) return -EINVAL;
  pmtrace_stats_t now{};
  if (const LabelCounts* labels = Client::label_counts()) {
    now.labels_cut = labels->cut.load(std::memory_order_relaxed);
    now.labels_over = labels->over.load(std::memory_order_relaxed);
  }
  if (Client* client = Client::get_if_made()) {
    // Read settled before recorded: only recorded can grow meanwhile.
    const DeliveryCounters& delivered = client->delivered();
    now.acknowledged = delivered.acknowledged;
    now.uncertain = delivered.uncertain;
    now.undeliverable = delivered.undeliverable;
    now.thinned = delivered.thinned;
    now.aborted = delivered.aborted;
    now.batches = delivered.batches;
    now.reconnects = delivered.reconnects;
    now.connected = delivered.connected.load(std::memory_order_acquire) ? 1 : 0;
    now.version = static_cast<std::int32_t>(delivered.version.load(std::memory_order_relaxed));
    const wire::ClientCounters counters = client->counters();
    now.recorded = counters.recorded;
    now.merged = counters.merged;
    now.unlisted = client->recorders().open_entries().ever_counted();
    now.pending = now.recorded - now.acknowledged - now.uncertain - now.undeliverable;
  }
  std::memcpy(stats, &now, std::min(size, sizeof now));
  if (size > sizeof now)  // a later version's program: unknown fields are zero
    std::memset(reinterpret_cast<char*>(stats) + sizeof now, 0, size - sizeof now);
  return 0;
}

}  // extern "C"
