// SPDX-License-Identifier: LGPL-2.1-or-later
// A run in at most 25 lines: where its time went. Rows of uneven names may take more.
#pragma once

#include <string>
#include <vector>

#include "command/run/model.hpp"
#include "command/show/shown.hpp"
#include "command/show/summary_table.hpp"

namespace pcp::trace::command {

// Lines end with a newline. `page` is the HTML page's file, empty if there is none.
std::string summary(const Totals& totals, const std::string& page, const Terminal& terminal,
                    const TableChoice& choice = {});

// The first lines: what was recorded, where and when.
std::string summary_head(const Run& run, const Shown& shown);

// Where the page is; empty if there is none.
std::string page_line(const std::string& page, const Shown& shown);

// Why calls may be missing, a line per archive; empty if none are.
std::string incompleteness(const Run& run, const Shown& shown, const std::string& where = "");

// Explains a sign or a column of a table.
struct Note {
  std::string sign;
  std::string text;
};

// Notes on tables of these tags.
std::vector<Note> notes_of(const std::vector<const Tag*>& rows, const Shown& shown);

}  // namespace pcp::trace::command
