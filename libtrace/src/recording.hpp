// One call, from the API to the recorder: what handle calls and string calls have in common.
#pragma once

#include "client.hpp"
#include "state.hpp"

namespace pcp::trace::client {

// Records a call. 0, or a negative error code.
int record_call(const Tag* tag, RecordKind kind, double value);

}  // namespace pcp::trace::client
