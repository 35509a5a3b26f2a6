// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared by handle calls and string calls: from the API to the recorder.
#pragma once

#include <limits>

#include "platform/state.hpp"
#include "process/client.hpp"

namespace pcp::trace::client {

// The slow path of a call: diagnostics, NOAGENT, captures, SYNC.
int record_specially(Recorder& recorder, const Tag* tag, RecordKind kind, double value);

// Gives `error`, and prints the refusal if calls are printed.
[[gnu::cold]] int refuse(const char* call, const char* tag, int error);
[[gnu::cold]] int refuse(RecordKind kind, const char* tag, int error);

// The same for a call whose handle is NULL.
[[gnu::cold]] int refuse_null_handle(const char* call);
[[gnu::cold]] int refuse_null_handle(RecordKind kind);

// Complains about the first bad increment: few programs check an add's result.
[[gnu::cold]] int refuse_increment(const char* tag, double increment);

// Counters take finite increments that are not negative.
inline bool is_increment(double value) {
  return value >= 0 && value <= std::numeric_limits<double>::max();
}

// Records a call of the calling thread, the recorder's owner. 0, or a negative error code. Inline
// it with the queue's code (gnu::flatten): see Recorder::record().
inline int record_call(Recorder& recorder, const Tag* tag, RecordKind kind, double value) {
  if (is_only_recording()) [[likely]]
    return recorder.record(tag, value, kind);
  return record_specially(recorder, tag, kind, value);
}

// The same for an ended transaction.
inline int record_transaction(Recorder& recorder, const Tag* tag, RecordKind kind, double seconds) {
  if (is_only_recording_transactions()) [[likely]]
    return recorder.record(tag, seconds, kind);
  return record_specially(recorder, tag, kind, seconds);
}

}  // namespace pcp::trace::client
