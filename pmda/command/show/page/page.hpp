// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes a run as one HTML file that needs no network and no other files. page/ has the page's
// code: modules, whose types a test checks. The build makes one script of them, since a page from a
// file cannot import any.
//
// The data are a gzip in base64, so no tag can become part of the document. Texts become elements
// in format.js, and are never parsed as HTML. The page's Content-Security-Policy forbids it to
// fetch anything, and to take any script or style but its own.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "command/run/comparison.hpp"
#include "command/run/model.hpp"

namespace pcp::trace::command {

// `comparison`: with the older run; may be null. An existing file is replaced completely, or stays
// as it is. The error names the file.
Result<void> write_page(const Model& model, const std::string& path,
                        const Comparison* comparison = nullptr);

// The page's data of a run, as bytes:
//
//   | length of the document, 4 bytes | document, JSON | first bytes of all floats | second ... |
//
// The document has the run and the tags as in model_json.hpp, and the index of each series' first
// float. Floats are split into bytes for better compression: neighbours have nearly the same sign
// and exponent. page/data.js unpacks the data.
std::string page_data(const Model& model, const Comparison* comparison = nullptr);

// The page without its data: the files of page/ and dygraphs, assembled by CMake.
extern const std::string_view kPageBeforeData;
extern const std::string_view kPageAfterData;

}  // namespace pcp::trace::command
