// SPDX-License-Identifier: LGPL-2.1-or-later
// A run's totals as a JSON document, for programs. Unknown values are null.
#pragma once

#include <string>
#include <vector>

#include "command/run/model.hpp"
#include "command/show/condition.hpp"

namespace pcp::trace::command {

// Ends with a newline.
std::string report_json(const Model& model, const std::vector<Condition::Finding>& findings = {});

}  // namespace pcp::trace::command
