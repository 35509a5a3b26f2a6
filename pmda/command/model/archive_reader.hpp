// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes a model of a run out of its archives. They are read twice: once for the totals of all tags,
// and then for the course of the few that matter most. So an hour of 10,000 tags takes little
// memory.
//
// Thread: one.
#pragma once

#include <string>
#include <vector>

#include "command/model/archive_changes.hpp"
#include "command/model/model.hpp"
#include "wire/result.hpp"

namespace pcp::trace::command {

struct ReadRequest {
  std::vector<std::string> archives;  // as PCP has their names
  Window window;
  std::string time_zone;  // goes into the model
};

// Without series.
Result<Totals> read_totals(const ReadRequest& request);

Result<Model> read_model(const ReadRequest& request);

}  // namespace pcp::trace::command
