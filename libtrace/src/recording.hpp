// One call, from the API to the recorder: what handle calls and string calls have in common.
#pragma once

#include <cerrno>

#include "client.hpp"
#include "state.hpp"

namespace pcp::trace::client {

// What a call of another kind than usual does: diagnostics, no agent, wait for the acknowledgement.
int record_specially(const Record& record);

// Records a call. 0, or a negative error code.
inline int record_call(const Tag* tag, RecordKind kind, double value) {
  const Record record{tag, value, kind};
  if (has_state(~PMTRACE_STATE_ASYNC)) [[unlikely]]
    return record_specially(record);
  Recorder* recorder = find_recorder();
  return recorder != nullptr ? recorder->record(record) : -ENOMEM;
}

}  // namespace pcp::trace::client
