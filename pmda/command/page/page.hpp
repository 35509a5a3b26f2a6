// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes a run as one HTML file that needs no network and no other files. page/ has the page's
// code, page_data.hpp its data.
#pragma once

#include <string>

#include "base/result.hpp"
#include "command/model/model.hpp"

namespace pcp::trace::command {

// An existing file is replaced completely, or stays as it is. The error names the file.
Result<void> write_page(const Model& model, const std::string& path);

}  // namespace pcp::trace::command
