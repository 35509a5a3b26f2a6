// SPDX-License-Identifier: LGPL-2.1-or-later
// One call, from the API to the recorder: what handle calls and string calls have in common.
#pragma once

#include <limits>

#include "process/client.hpp"
#include "record/state.hpp"

namespace pcp::trace::client {

// What a call of another kind than usual does: diagnostics, no agent, wait for the acknowledgement.
int record_specially(Recorder& recorder, const Tag* tag, RecordKind kind, double value);

// Gives the error with which a call is refused, and prints that if calls are printed.
[[gnu::cold]] int refuse(const char* call, const char* tag, int error);
[[gnu::cold]] int refuse(RecordKind kind, const char* tag, int error);

// The same of a call by handle whose handle is NULL.
[[gnu::cold]] int refuse_null_handle(const char* call);
[[gnu::cold]] int refuse_null_handle(RecordKind kind);

// Says the first one without being asked: few look at what an add returns.
[[gnu::cold]] int refuse_increment(const char* tag, double increment);

// What can be added to a counter: finite and not negative.
inline bool is_increment(double value) {
  return value >= 0 && value <= std::numeric_limits<double>::max();
}

// Records a call of the calling thread, which owns the recorder. 0, or a negative error code. To be
// inlined with all of the queue's code (gnu::flatten), for the reason that Recorder::record()
// gives.
inline int record_call(Recorder& recorder, const Tag* tag, RecordKind kind, double value) {
  if (only_records()) [[likely]]
    return recorder.record(tag, value, kind);
  return record_specially(recorder, tag, kind, value);
}

// The same of a transaction that has ended.
inline int record_transaction(Recorder& recorder, const Tag* tag, RecordKind kind, double seconds) {
  if (only_records_transactions()) [[likely]]
    return recorder.record(tag, seconds, kind);
  return record_specially(recorder, tag, kind, seconds);
}

}  // namespace pcp::trace::client
