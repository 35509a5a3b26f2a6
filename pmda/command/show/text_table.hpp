// SPDX-License-Identifier: LGPL-2.1-or-later
// A table of texts: names, and columns beside them. For a terminal line by line, or in Markdown.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/show/shown.hpp"

namespace pcp::trace::command {

class TextTable {
 public:
  struct Column {
    int width = 0;  // 0: there is no such column
    int rank = 0;   // a narrow terminal drops the column with the least; 0: never
    bool is_left = false;
  };
  using Style = std::string (Shown::*)(std::string_view) const;
  struct Cell {
    Cell(std::string shown, Style of_cell = nullptr) : text(std::move(shown)), style(of_cell) {}
    std::string text;
    Style style;  // also of the blanks beside the text; null: none
  };

  // Drops columns until `least` are left for the names.
  TextTable(std::vector<Column> columns, int least, const Shown& shown);

  std::size_t name_width() const { return static_cast<std::size_t>(name_width_); }

  std::string line(std::string_view name,
                   const std::function<Cell(std::size_t column)>& cell) const;

  // The first row is the heading. Columns without one are left out.
  static std::string markdown(const std::vector<std::vector<std::string>>& rows);

 private:
  const Shown& shown_;
  std::vector<Column> columns_;
  int name_width_;
};

}  // namespace pcp::trace::command
