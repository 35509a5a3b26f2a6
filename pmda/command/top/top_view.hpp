// SPDX-License-Identifier: LGPL-2.1-or-later
// The tags in a terminal, as they change: a table, and the pages of single tags.
#pragma once

#include "command/interruption.hpp"
#include "command/top/screen.hpp"
#include "command/top/tag_feed.hpp"

namespace pcp::trace::command {

// Shows them until the user ends it.
void view_tags(Screen& screen, const TopOptions& options, TagFeed& feed,
               Interruption& interruption);

}  // namespace pcp::trace::command
