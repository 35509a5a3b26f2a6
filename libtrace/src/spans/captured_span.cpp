// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/captured_span.hpp"

namespace pcp::trace::client {

CapturedSpan copy_of(const CapturedSpan& span) {
  return {.tag = span.tag,
          .notes = span.notes != nullptr ? span.notes->copy() : nullptr,
          .context = span.context,
          .begin_ns = span.begin_ns,
          .duration_ns = span.duration_ns,
          .value = span.value,
          .epoch = span.epoch,
          .tid = span.tid,
          .kind = span.kind,
          .aborted = span.aborted};
}

}  // namespace pcp::trace::client
