// SPDX-License-Identifier: LGPL-2.1-or-later
// How evenly the total of a name is spread over the values of one of its labels, such as the time
// of a computation over the ranks of a job.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "command/run/model.hpp"

namespace pcp::trace::command {

// Covers all label sets of each name. Names with one value of a label, and totals that are unknown,
// negative or all zero, have none. The greatest loss comes first.
std::vector<Imbalance> imbalances_of(const std::vector<Tag>& tags);

// True if a report should tell of it: one process has much more than the others. Routes and answers
// are never alike, whoever asks for them.
bool is_uneven(const Imbalance& imbalance);

}  // namespace pcp::trace::command
