// SPDX-License-Identifier: LGPL-2.1-or-later
// How much more work the newer of two runs did.
#pragma once

#include <vector>

#include "command/run/comparison.hpp"

namespace pcp::trace::command {

struct EqualWork {
  double factor = 1;                     // work now / work before
  const ComparedTag* measure = nullptr;  // the tag whose calls gave the factor; null: none
};

EqualWork equal_work(const std::vector<ComparedTag>& tags);

// Calls of any end: a call that fails is work, too.
inline double all_calls(const Tag& tag) { return tag.calls + tag.failed.value_or(0); }

}  // namespace pcp::trace::command
