// SPDX-License-Identifier: LGPL-2.1-or-later
// The page without its data: the files of page/ and dygraphs, assembled by CMake.
#pragma once

#include <string_view>

namespace pcp::trace::command {

extern const std::string_view kPageBeforeData;
extern const std::string_view kPageAfterData;

}  // namespace pcp::trace::command
