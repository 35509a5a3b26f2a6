// SPDX-License-Identifier: LGPL-2.1-or-later
// A run's totals as a JSON document, for programs. Unknown values are null.
#pragma once

#include <string>
#include <vector>

#include "command/model/model.hpp"
#include "command/report/condition.hpp"

namespace pcp::trace::command {

// Ends with a newline. `base` and `spans` may be null.
std::string report_json(const Run& run, const std::vector<Tag>& tags, const Totals* base,
                        const std::vector<Condition::Finding>& findings,
                        const RecordedSpans* spans = nullptr);

}  // namespace pcp::trace::command
