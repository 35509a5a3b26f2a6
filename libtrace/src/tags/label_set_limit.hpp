// SPDX-License-Identifier: LGPL-2.1-or-later
// PCP_TRACE_MAX_LABEL_SETS: how many label sets one name may have in this process. Read at the
// first tag with labels, perhaps in a constructor before main(). Threads that race for the last
// sets may each make one, since they do not wait for each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pcp::trace::client {

inline constexpr std::uint32_t kMaxLabelSetLimit = 100'000;

// Nothing if this is no number from 0 to kMaxLabelSetLimit; ClientOptions reports that.
std::optional<std::uint32_t> parse_label_set_limit(std::string_view text);

// Thread: any.
std::uint32_t label_set_limit();

}  // namespace pcp::trace::client
