// SPDX-License-Identifier: LGPL-2.1-or-later
// What the page knows of a run, as bytes:
//
//   | length of the document, 4 bytes | document, JSON | first bytes of all floats | second ... |
//
// The document has one column for each number of all tags, and says at which float a series begins.
// Floats are taken apart since neighbours have nearly the same sign and exponent, so that gzip
// makes them small. page/data.js puts all together again.
#pragma once

#include <string>

#include "command/model/model.hpp"

namespace pcp::trace::command {

std::string page_data(const Model& model);

}  // namespace pcp::trace::command
