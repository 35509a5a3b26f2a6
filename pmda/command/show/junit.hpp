// SPDX-License-Identifier: LGPL-2.1-or-later
// Findings as a JUnit report, which pipelines show.
#pragma once

#include <string>
#include <vector>

#include "command/show/condition.hpp"

namespace pcp::trace::command {

// A test case for each finding: true conditions are failures, unknown ones errors. Valid XML for
// any bytes in the findings.
std::string junit(const std::vector<Condition::Finding>& findings);

}  // namespace pcp::trace::command
