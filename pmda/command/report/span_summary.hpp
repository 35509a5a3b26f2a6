// SPDX-License-Identifier: LGPL-2.1-or-later
// The single transactions of a run, for a terminal: their number, and the slowest as trees.
#pragma once

#include <string>

#include "command/model/model.hpp"
#include "command/report/shown.hpp"

namespace pcp::trace::command {

// One line.
std::string span_counts(const RecordedSpans& spans, const Shown& shown);

// span_counts() and a few trees.
std::string span_summary(const RecordedSpans& spans, const Shown& shown);

}  // namespace pcp::trace::command
