// SPDX-License-Identifier: LGPL-2.1-or-later
// Lower bounds of a tag's greatest value, if samples do not show it: agents show maxima of windows,
// which may not cover the whole run.
#pragma once

#include <vector>

#include "command/model/model.hpp"

namespace pcp::trace::command {

// The distribution tells the bin of the greatest value, but not the value or its time.
void raise_to_distribution(Tag& tag);

// A captured transaction of the run that was not aborted is one of its tag's calls.
void raise_to_spans(Totals& totals, const RecordedSpans& spans);

}  // namespace pcp::trace::command
