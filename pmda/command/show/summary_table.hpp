// SPDX-License-Identifier: LGPL-2.1-or-later
// The tables of a summary: transactions, observations, and points with counters. The label sets of
// a name are one row, with the worst of them below it.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "command/run/figures.hpp"
#include "command/run/model.hpp"
#include "command/show/shown.hpp"
#include "command/show/text_table.hpp"
#include "wire/trace_type.hpp"

namespace pcp::trace::command {

inline constexpr std::array<std::string_view, 3> kTableTitles{"Transactions", "Observations",
                                                              "Points, counters"};

// The items of each table.
template <typename Item>
using TablesOf = std::array<std::vector<const Item*>, kTableTitles.size()>;

// The index of a type's table.
constexpr std::size_t table_of(TraceType type) {
  return type == TraceType::Transact ? 0 : type == TraceType::Observe ? 1 : 2;
}

// The number of entries that each table shows, from the lines that each entry takes: as many as
// fit, in order. The first table gets two entries for each of the others'.
std::vector<std::size_t> deal_lines(const std::vector<std::vector<std::size_t>>& tables,
                                    std::size_t lines);

// Which rows a summary shows, and in which order.
struct TableChoice {
  std::optional<std::size_t> top;  // so many names in each table
  bool shows_all = false;          // every label set in a row of its own, however many there are
  // By these labels tags were added up: each sum has its row. Else a name's label sets are one row.
  std::optional<std::vector<std::string>> by{};
  std::optional<Figure> sort;  // a column, by the greatest value; nothing: model order
  std::string chosen_by{};     // the options that leave tags out
};

// Parses a column's name. An error lists the valid ones. `is_live`: of hosts now.
Result<Figure> parse_column(const std::string& text, bool is_live = false);

// A tag's value in a column; nothing: unknown, or the type has none.
std::optional<double> value_in(Figure column, const Tag& tag);

// A value with its unit. Requires: the tag has this figure.
std::string shown_figure(Figure figure, const Tag& tag, const Shown& shown);

// Lines of a table, with a column for each figure.
class TagTable {
 public:
  // `tags` decide whether there is a column of failures. `is_live`: they are those of hosts now. It
  // has transactions that are open, and fits terminals of any width; and rates, unless some failed:
  // then calls, as failures are counted, too.
  TagTable(const Shown& shown, std::span<const Tag> tags, std::optional<Figure> sort, bool is_live);

  std::size_t name_width() const { return table_.name_width(); }

  // Without a newline.
  std::string heading(std::size_t table) const;
  std::string row(const std::string& name, const Tag& tag) const;
  // With the names and units of these tags.
  std::vector<std::string> rows(std::span<const Tag* const> tags) const;

  // The unit of the tag's values, as behind its name; times have units themselves.
  std::string unit(const Tag& tag) const;

 private:
  std::string cell(Figure column, const Tag& tag) const;

  const Shown& shown_;
  const TextTable table_;
};

struct SummaryTables {
  std::string text;
  std::deque<Tag> rows;  // the tags that are shown
};

// In at most `lines` lines, unless the choice or the names that are uneven need more. Below the row
// of a name that is uneven comes its label set with the greatest value. Requires: there are tags.
SummaryTables summary_tables(const std::vector<Tag>& tags, const TableChoice& choice,
                             const std::vector<Imbalance>& uneven, std::size_t lines, bool has_page,
                             const Shown& shown);

}  // namespace pcp::trace::command
