// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces files completely, or leaves them unchanged. Devices and pipes are written to. For a link
// its target is replaced.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace pcp::trace::command {

Result<void> replace_file(const std::string& path, std::string_view bytes);

// Checks if replace_file() would work now.
Result<void> try_to_replace_file(const std::string& path);

}  // namespace pcp::trace::command
