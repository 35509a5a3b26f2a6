// SPDX-License-Identifier: LGPL-2.1-or-later
// Calls of tags for which there was no room. If a process had none for a label set, its calls count
// for the bare name, or with --split for the labels of the process: then the process has other
// label sets of this name. If an agent had none, its calls may count anywhere.
#pragma once

#include "command/pcp/archive_changes.hpp"
#include "command/run/label_choice.hpp"
#include "command/run/model.hpp"

namespace pcp::trace::command {

// Fills Run::without_room, Run::folded and Tag::is_folded. Requires: all tags are there. `names`:
// of all tags, also those without calls.
void take_folded(Totals& totals, const TagNames& names, const LabelChoice& choice);

// Fills Tag::folded. Requires: the choice has been made.
void note_folded(Totals& totals);

}  // namespace pcp::trace::command
