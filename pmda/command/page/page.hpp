// SPDX-License-Identifier: LGPL-2.1-or-later
// Shows a run as one HTML file, which needs no network and nothing beside it. What it looks like is
// in page/, what it knows in page_data.hpp.
#pragma once

#include <string>

#include "command/model/model.hpp"
#include "wire/result.hpp"

namespace pcp::trace::command {

// A file that is there is replaced as a whole, or stays as it is. The error names the file.
Result<void> write_page(const Model& model, const std::string& path);

}  // namespace pcp::trace::command
