// SPDX-License-Identifier: LGPL-2.1-or-later
// What a tag's greatest value is at least, where samples do not tell what it is: agents show maxima
// of windows, which need not cover all of a run.
#pragma once

#include <vector>

#include "command/model/model.hpp"

namespace pcp::trace::command {

// The distribution knows the bin of the greatest value, but not the value nor its time.
void raise_to_distribution(Tag& tag);

// A transaction that was captured in the run, and not aborted, is one of its tag's calls.
void raise_to_spans(Totals& totals, const RecordedSpans& spans);

}  // namespace pcp::trace::command
