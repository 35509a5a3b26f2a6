// SPDX-License-Identifier: LGPL-2.1-or-later
// The page's data of a run, as bytes:
//
//   | length of the document, 4 bytes | document, JSON | first bytes of all floats | second ... |
//
// The document has one column for each member of all tags, and the index of each series' first
// float. Floats are split into bytes for better compression: neighbours have nearly the same sign
// and exponent. page/data.js unpacks the data.
#pragma once

#include <string>

#include "command/model/model.hpp"

namespace pcp::trace::command {

std::string page_data(const Model& model);

}  // namespace pcp::trace::command
