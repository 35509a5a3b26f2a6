// SPDX-License-Identifier: LGPL-2.1-or-later
// The columns of a heat map: only as many and as fine as people can distinguish.
#pragma once

#include <vector>

#include "command/model/model.hpp"

namespace pcp::trace::command {

inline constexpr std::size_t kMaxHeatColumns = 240;
inline constexpr unsigned kHeatCoarseness = 2;  // eight bins for each power of two

// Merges neighbours if there are too many; over a pause only if it is too short to be visible.
std::vector<TimedHistogram> heat_columns(const std::vector<TimedHistogram>& histograms);

}  // namespace pcp::trace::command
