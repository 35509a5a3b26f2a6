// SPDX-License-Identifier: LGPL-2.1-or-later
// The tables of a summary: transactions, observations, and points with counters. The label sets of
// a name are one row, with the worst of them below it.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "command/run/model.hpp"
#include "command/show/shown.hpp"

namespace pcp::trace::command {

// In the order of the table.
enum class Column { Calls, Rate, Failed, Total, Mean, P50, P95, P99, Max, Busy };

// Which rows a summary shows, and in which order.
struct TableChoice {
  std::optional<std::size_t> top;  // so many names in each table
  bool shows_all = false;          // every label set in a row of its own, however many there are
  bool folds = true;               // the label sets of a name into one row
  std::optional<Column> sort;      // by the greatest value; nothing: model order
  bool may_leave_out = false;      // --where or --filter chose the tags
};

// Parses a column's name. An error lists the valid ones.
Result<Column> parse_column(const std::string& text);

struct SummaryTables {
  std::string text;
  std::deque<Tag> rows;  // the tags that are shown
};

// In at most `lines` lines, unless the choice asks for more. Requires: there are tags.
SummaryTables summary_tables(const std::vector<Tag>& tags, const TableChoice& choice,
                             std::size_t lines, bool has_page, const Shown& shown);

}  // namespace pcp::trace::command
