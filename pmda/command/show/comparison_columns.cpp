// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/comparison_columns.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace pcp::trace::command {

std::vector<Figure> compared_columns() {
  std::vector<Figure> columns;
  for (const FigureRow& row : kFigures)
    if (row.importance != 0) columns.push_back(row.figure);
  return columns;
}

std::optional<Figure> compared_in(Figure column, TraceType type) {
  const std::optional<Figure> figure = figure_in(column, type);
  return figure && is_compared(type, *figure) ? figure : std::nullopt;
}

std::string_view compared_heading(Figure column, std::size_t table) {
  constexpr std::array kTypeOfTable{TraceType::Transact, TraceType::Observe, TraceType::Counter};
  return compared_in(column, kTypeOfTable[table]) ? heading_of(column, table) : "";
}

bool is_worse_if_more(Figure figure, const Tag& tag) {
  return tag.type == TraceType::Transact && figure != Figure::Calls && figure != Figure::Rate;
}

std::string compared_value(const Tag& tag, Figure column, const Shown& shown, double divisor) {
  constexpr double kLeastShare = 0.001;  // a lesser one is too wide for a column
  const std::optional<Figure> figure = compared_in(column, tag.type);
  if (!figure) return "";
  const std::optional<double> value = compared_value_of(tag, *figure, divisor);
  if (!value) return shown.nothing();
  if (*figure == Figure::FailedShare)
    return *value > 0 && *value < kLeastShare ? "<0.001%" : Shown::number(*value) + "%";
  if (*figure == Figure::Calls || *figure == Figure::Failed)
    return *value == std::round(*value) ? Shown::count(*value) : Shown::number(*value);
  const bool is_lower_limit = *figure == Figure::Max && tag.max && !tag.max->is_exact;
  return (is_lower_limit ? shown.at_least() : "") + shown.value(tag.type, *value);
}

std::string per_what(const Divisors& divisors, const Shown& shown, std::size_t columns_of_tag) {
  if (divisors.tag) return " per call of " + shown.name(divisors.tag->second, columns_of_tag);
  return divisors.are_one() ? "" : " per run";
}

std::string per_how_many(const Divisors& divisors, const Shown& shown, std::size_t columns_of_tag) {
  return per_what(divisors, shown, columns_of_tag) + ": " + Shown::count(divisors.before) +
         " before, " + Shown::count(divisors.now) + " now";
}

std::array<std::vector<const ComparedTag*>, kTableTitles.size()> by_kind(
    const Comparison& comparison, std::size_t most) {
  std::array<std::vector<const ComparedTag*>, kTableTitles.size()> kinds;
  for (const ComparedTag& tag :
       std::span(comparison.tags).first(std::min(comparison.tags.size(), most)))
    kinds[table_of(tag.now->type)].push_back(&tag);
  return kinds;
}

}  // namespace pcp::trace::command
