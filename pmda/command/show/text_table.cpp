// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/text_table.hpp"

#include <algorithm>
#include <utility>

namespace pcp::trace::command {

TextTable::TextTable(std::vector<Column> columns, int least, const Shown& shown)
    : shown_(shown), columns_(std::move(columns)) {
  std::vector<Column*> to_drop;
  name_width_ = static_cast<int>(shown.terminal().columns);
  for (Column& each : columns_) {
    name_width_ -= each.width;
    if (each.rank != 0) to_drop.push_back(&each);
  }
  std::ranges::stable_sort(to_drop, {}, &Column::rank);
  for (Column* const each : to_drop)
    if (name_width_ < least) name_width_ += std::exchange(each->width, 0);
  name_width_ = std::max(name_width_, 0);
}

std::string TextTable::line(std::string_view name,
                            const std::function<Cell(std::size_t)>& cell) const {
  std::string line = Shown::left(name, name_width());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto width = static_cast<std::size_t>(columns_[i].width);
    if (width == 0) continue;
    const auto& [text, style] = cell(i);
    const std::string padded = (columns_[i].is_left ? Shown::left : Shown::right)(text, width);
    line += style == nullptr ? padded : (shown_.*style)(padded);
  }
  return Shown::trimmed(line);
}

std::string TextTable::markdown(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    std::string alignment;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (rows.front()[i].empty()) continue;
      text += i == 0 ? "| " : " ";
      for (const char c : row[i])
        text += (c == '|' ? "\\" : "") + std::string(1, c);  // also in code
      text += " |";
      alignment += i == 0 ? "|---|" : "--:|";
    }
    text += &row == &rows.front() ? "\n" + alignment + "\n" : "\n";
  }
  return text + "\n";
}

}  // namespace pcp::trace::command
