// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "command/run/imbalance.hpp"
#include "command/show/summary.hpp"
#include "command/show/text_table.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::size_t kMostTags = 15;
constexpr int kValue = 8;        // without the sign
constexpr std::size_t kRun = 4;  // "was", "now"
constexpr int kFewestOfName = 18;

using Kinds = TablesOf<ComparedTag>;

// True if more of it is worse; else a change is neither good nor bad.
bool is_worse_if_more(Figure figure, const Tag& tag) {
  return tag.type == TraceType::Transact && figure != Figure::Calls && figure != Figure::Rate;
}

// Leaves the tags to be shown.
void keep_first(Kinds& kinds, std::size_t most) {
  std::vector<std::vector<std::size_t>> lines;
  for (const auto& kind : kinds) lines.emplace_back(kind.size(), 1);
  const std::vector<std::size_t> kept = deal_lines(lines, most);
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) kinds[kind].resize(kept[kind]);
}

// Gives each figure a column, which may have no width.
std::vector<TextTable::Column> columns_for(const Kinds& kinds) {
  const bool has_failed = std::ranges::any_of(kinds[0], [](const ComparedTag* tag) {
    return tag->before->failed.value_or(0) + tag->now->failed.value_or(0) > 0;
  });
  std::vector<TextTable::Column> columns;
  for (const FigureRow& row : kFigures) {
    const bool is_of_failed = row.figure == Figure::Failed || row.figure == Figure::FailedShare;
    const bool is_shown = row.importance != 0 && (has_failed || !is_of_failed);
    columns.push_back({is_shown ? kValue + 1 : 0, row.importance});
  }
  return columns;
}

class ComparisonTable {
 public:
  ComparisonTable(const Comparison& comparison, const Shown& shown, const Kinds& kinds)
      : comparison_(comparison),
        shown_(shown),
        table_(columns_for(kinds), kFewestOfName + kRun, shown),
        name_width_(table_.name_width() - kRun) {}

  std::string heading(std::size_t kind) const;
  std::string rows(const ComparedTag& tag, const std::string& name);
  std::vector<std::string> names(const Kinds& kinds) const;

  // Explains the signs, why differences were not judged, and what is divided.
  std::string notes() const;

 private:
  TextTable::Cell change(const ComparedTag& tag, Figure column);
  std::string lost(const ComparedTag& tag) const;

  const Comparison& comparison_;
  const Shown& shown_;
  const TextTable table_;
  const std::size_t name_width_;  // without the run
  bool has_signs_ = false;
  std::size_t not_judged_ = 0;
};

std::string ComparisonTable::heading(std::size_t kind) const {
  const auto heading = [kind](std::size_t i) {
    return std::string(compared_heading(kFigures[i].figure, kind)) + " ";
  };
  return shown_.bold(table_.line(kTableTitles[kind], heading)) + "\n";
}

TextTable::Cell ComparisonTable::change(const ComparedTag& tag, Figure column) {
  const std::optional<Figure> figure = compared_in(column, tag.now->type);
  if (!figure || !tag.of(*figure).is_known()) return {""};
  const Difference& change = tag.of(*figure);
  const std::string text = shown_.change(*change.before, *change.now);
  if (!change.is_real()) {
    const bool may_be_judged = comparison_.is_over_runs || varies_within_a_run(*figure);
    if (change.verdict == Verdict::NotJudged && may_be_judged) ++not_judged_;
    if (is_count(*figure)) return {text + " "};  // counts are exact
    return {shown_.faint(Shown::right(text, kValue)) + " "};
  }
  has_signs_ = true;
  const bool is_more = *change.now > *change.before;
  const std::string sign = is_more ? shown_.sign("▲", "^") : shown_.sign("▼", "v");
  if (!is_worse_if_more(*figure, *tag.now)) return {text + sign};
  return {text + sign, is_more ? &Shown::bad : &Shown::good};
}

// The text under the name.
std::string ComparisonTable::lost(const ComparedTag& tag) const {
  const Difference& total = tag.of(Figure::Total);
  if (!tag.lost_s || !Shown::has_changed(*total.before, *total.now)) return "";
  // Calls that fail where others did not may be shorter: nothing is saved.
  const Difference& failed = tag.of(Figure::Failed);
  if (*tag.lost_s < 0 && failed.is_known() && *failed.now > *failed.before) return "";
  // If some calls are left out, so is their time.
  if (tag.now->times_of && failed.is_known() && *failed.now != *failed.before) return "";
  const std::string text =
      (*tag.lost_s > 0 ? "  lost " : "  saved ") + shown_.duration(std::abs(*tag.lost_s));
  return !total.is_real()  ? shown_.faint(text)
         : *tag.lost_s > 0 ? shown_.bad(text)
                           : shown_.good(text);
}

std::vector<std::string> ComparisonTable::names(const Kinds& kinds) const {
  std::vector<NameToCut> names;
  for (const auto& kind : kinds)
    for (const ComparedTag* const tag : kind) names.push_back({tag->now->name, name_width_ - 1});
  return shown_.names(names);
}

std::string ComparisonTable::rows(const ComparedTag& tag, const std::string& name) {
  const auto line = [this](const std::string& first, std::string_view run, const auto& cell) {
    return table_.line(Shown::left(first, name_width_) + shown_.faint(Shown::left(run, kRun)),
                       [&](std::size_t i) { return cell(kFigures[i].figure); }) +
           "\n";
  };
  const auto values = [this](const Tag& of_run, double divisor) {
    return [&, divisor](Figure column) {
      return compared_value(of_run, column, shown_, divisor) + " ";
    };
  };
  const auto& [before, now, by] = comparison_.divisors;
  return line(name, "was", values(*tag.before, before)) +
         line(lost(tag), "now", values(*tag.now, now)) +
         line("", "", [&](Figure column) { return change(tag, column); });
}

std::string ComparisonTable::notes() const {
  std::string lines;
  if (has_signs_)
    lines += shown_.faint(shown_.sign("▲ ▼", "^ v") + " larger than the noise between equal runs") +
             "\n";
  if (not_judged_ > 0)
    lines += shown_.faint(Shown::counted(not_judged_, "difference") +
                          " not judged: few intervals (run longer, or -t 10ms), or little time") +
             "\n";
  if (!comparison_.divisors.are_one())
    lines += shown_.faint("sums: calls, failed, total, added, lost and saved") + "\n";
  return lines;
}

// Tags that the other run lacks, in one line.
std::string only_in(const std::string& label, const std::vector<const Tag*>& tags,
                    const Shown& shown) {
  if (tags.empty()) return "";
  const std::string head = label + " (" + std::to_string(tags.size()) + "): ";
  const auto rest = [&](std::size_t named) {
    return " and " + std::to_string(tags.size() - named) + " more";
  };
  const std::size_t room = room_after(shown.terminal().columns, head.size() + rest(0).size());
  std::string names = shown.name(tags.front()->name, room);
  std::size_t named = 1;
  for (; named < tags.size(); ++named) {
    const std::string next = ", " + shown.name(tags[named]->name, room);
    if (columns_of(names) + columns_of(next) > room) break;
    names += next;
  }
  return shown.faint(head) + names + (named < tags.size() ? rest(named) : "") + "\n";
}

// The names that are uneven in one of the runs, with the greatest value of the label in both.
std::string uneven_lines(const Totals& base, const Totals& now, const Shown& shown) {
  constexpr std::size_t kMost = 3;
  constexpr std::size_t kLeastName = 12;
  constexpr std::size_t kMostOfLabel = 12;
  constexpr std::size_t kMostOfValue = 16;  // with the label
  const auto text = [&](const Imbalance& each) {
    return Shown::measured(each.ratio()) + shown.sign(" × the mean (", " x the mean (") +
           shown.name(each.label + "=" + each.values.front().value, kMostOfValue) + ")";
  };
  std::string lines;
  std::size_t count = 0;
  for (const Imbalance& each : now.imbalances) {
    const auto was = std::ranges::find_if(base.imbalances, [&](const Imbalance& other) {
      return other.type == each.type && other.name == each.name && other.label == each.label;
    });
    if (was == base.imbalances.end() || !(is_uneven(*was) || is_uneven(each))) continue;
    if (++count > kMost) break;
    const std::string what = " by " + shown.name(each.label, kMostOfLabel) + ": was " + text(*was) +
                             ", now " + text(each);
    const std::string label = "uneven ";
    const std::size_t room =
        std::max(room_after(shown.terminal().columns, label.size() + columns_of(what)), kLeastName);
    lines += shown.faint(label) + shown.name(each.name, room) + what + "\n";
  }
  return lines;
}

}  // namespace

std::optional<Figure> compared_in(Figure column, TraceType type) {
  const std::optional<Figure> figure = figure_in(column, type);
  return figure && is_compared(type, *figure) ? figure : std::nullopt;
}

std::string_view compared_heading(Figure column, std::size_t table) {
  constexpr std::array kTypeOfTable{TraceType::Transact, TraceType::Observe, TraceType::Counter};
  const bool is_shown = row_of(column).importance != 0 && compared_in(column, kTypeOfTable[table]);
  return is_shown ? heading_of(column, table) : "";
}

std::string compared_value(const Tag& tag, Figure column, const Shown& shown, double divisor) {
  constexpr double kLeastShare = 0.001;  // a lesser one is too wide for a column
  const std::optional<Figure> figure = compared_in(column, tag.type);
  if (!figure) return "";
  const std::optional<double> value = compared_value_of(tag, *figure, divisor);
  if (!value) return shown.nothing();
  const FigureRow::Unit unit = row_of(*figure).unit;
  if (unit == FigureRow::Unit::Percent)
    return *value > 0 && *value < kLeastShare ? "<0.001%" : Shown::number(*value) + "%";
  if (unit == FigureRow::Unit::Count)
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

TablesOf<ComparedTag> by_kind(const Comparison& comparison, std::size_t most) {
  TablesOf<ComparedTag> kinds;
  for (const ComparedTag& tag :
       std::span(comparison.tags).first(std::min(comparison.tags.size(), most)))
    kinds[table_of(tag.now->type)].push_back(&tag);
  return kinds;
}

std::string shown_comparison(const Totals& base, const Totals& now, const Comparison& comparison,
                             const Terminal& terminal) {
  const Shown shown(terminal);
  std::string text = incompleteness(base.run, shown, " in the older run") +
                     incompleteness(now.run, shown, " in the newer run") + shown.faint("was: ") +
                     summary_head(base.run, shown) + shown.faint("now: ") +
                     summary_head(now.run, shown);
  constexpr std::size_t kBesideTag = 46;
  if (!comparison.divisors.are_one())
    text +=
        "sums" +
        per_how_many(comparison.divisors, shown, room_after(shown.terminal().columns, kBesideTag)) +
        "\n";
  text += "\n";
  if (comparison.tags.empty()) text += "No tag is in both.\n";
  Kinds kinds = by_kind(comparison);
  keep_first(kinds, kMostTags);
  ComparisonTable table(comparison, shown, kinds);
  const std::vector<std::string> names = table.names(kinds);
  std::size_t rows = 0;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    if (kinds[kind].empty()) continue;
    text += (rows > 0 ? "\n" : "") + table.heading(kind);
    for (const ComparedTag* const tag : kinds[kind]) text += table.rows(*tag, names[rows++]);
  }
  if (comparison.tags.size() > rows)
    text += shown.faint("and " + std::to_string(comparison.tags.size() - rows) +
                        " more: see the page (--html FILE), or --json") +
            "\n";
  if (rows > 0) text += "\n";
  return text + table.notes() + uneven_lines(base, now, shown) +
         only_in("only before", comparison.only_before, shown) +
         only_in("only now", comparison.only_now, shown);
}

}  // namespace pcp::trace::command
