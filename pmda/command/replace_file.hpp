// SPDX-License-Identifier: LGPL-2.1-or-later
// Files that are written as a whole or stay as they were. A device or a pipe is written to; what a
// link leads to is replaced, not the link.
#pragma once

#include <string>
#include <string_view>

#include "wire/result.hpp"

namespace pcp::trace::command {

Result<void> replace_file(const std::string& path, std::string_view bytes);

// Whether that would work as things are now.
Result<void> try_to_replace_file(const std::string& path);

}  // namespace pcp::trace::command
