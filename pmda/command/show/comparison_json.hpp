// SPDX-License-Identifier: LGPL-2.1-or-later
// A comparison of two runs as JSON.
#pragma once

#include "command/run/comparison.hpp"
#include "command/show/json_writer.hpp"

namespace pcp::trace::command {

// One value: an object.
void write_comparison(JsonWriter& json, const Comparison& comparison);

}  // namespace pcp::trace::command
