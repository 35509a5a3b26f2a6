// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/comparison_columns.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace pcp::trace::command {

Figure figure_in(const ComparedColumn& column, const Tag& tag) {
  return column.figure == Figure::Total && tag.type == TraceType::Counter ? Figure::Added
                                                                          : column.figure;
}

std::string_view title_in(const ComparedColumn& column, std::size_t kind) {
  const bool is_distribution = column.figure >= Figure::Mean && column.figure <= Figure::Max;
  if (kind == 0) return column.title;
  if (kind == 1)
    return column.figure == Figure::Calls ? "values" : is_distribution ? column.title : "";
  return column.figure == Figure::Calls ? "calls" : column.figure == Figure::Total ? "added" : "";
}

bool is_worse_if_more(Figure figure, const Tag& tag) {
  return tag.type == TraceType::Transact && figure != Figure::Calls && figure != Figure::Rate;
}

std::string compared_value(const Tag& tag, Figure figure, const Shown& shown, double divisor) {
  constexpr double kLeastShare = 0.001;  // a lesser one is too wide for a column
  if (!has_figure(tag.type, figure)) return "";
  const std::optional<double> value = value_of(tag, figure, divisor);
  if (!value) return shown.nothing();
  if (figure == Figure::FailedShare)
    return *value > 0 && *value < kLeastShare ? "<0.001%" : Shown::number(*value) + "%";
  if (figure == Figure::Calls || figure == Figure::Failed)
    return *value == std::round(*value) ? Shown::count(*value) : Shown::number(*value);
  const bool is_lower_limit = figure == Figure::Max && tag.max && !tag.max->is_exact;
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
