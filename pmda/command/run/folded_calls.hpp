// SPDX-License-Identifier: LGPL-2.1-or-later
// Calls of tags for which there was no room. Those of label sets count for their bare name, or with
// --split for the labels of their process; those of other tags for (overflow). Calls of tags that
// are too long for the labels of --split lack these.
#pragma once

#include "command/run/label_choice.hpp"
#include "command/run/model.hpp"

namespace pcp::trace::command {

// Fills Run::folded and Tag::is_folded if tags had, or may have had, no room: added up as the
// choice says. Requires: all tags are there.
void take_folded(Totals& totals, const LabelChoice& choice);

// Fills Tag::folded. Requires: the same choice, which has been made.
void note_folded(Totals& totals, const LabelChoice& choice);

}  // namespace pcp::trace::command
