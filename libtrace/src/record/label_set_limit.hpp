// SPDX-License-Identifier: LGPL-2.1-or-later
// How many sets of labels one name may have in this process: PCP_TRACE_MAX_LABEL_SETS. Read by
// whoever makes the first tag with labels, which may be a constructor before everything else.
// Threads that make the last sets in the same moment may each make one: nobody waits for another
// one's.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pcp::trace::client {

inline constexpr std::uint32_t kMaxLabelSetLimit = 100'000;

// Gives nothing if this is no number from 0 to the greatest; Options says so.
std::optional<std::uint32_t> parse_label_set_limit(std::string_view text);

// Thread: any.
std::uint32_t label_set_limit();

}  // namespace pcp::trace::client
