// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/markdown.hpp"

#include <algorithm>
#include <string_view>

#include "command/show/comparison.hpp"
#include "command/show/summary.hpp"
#include "command/show/text_table.hpp"
#include "command/show/waterfall.hpp"
#include "command/show/why_slow.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::size_t kMostRows = 30;
constexpr std::size_t kMostFindings = 30;
constexpr std::size_t kMostNamed = 3;
constexpr std::size_t kLongestName = 120;

const Shown& shown() {
  static const Shown made(Terminal{true, false, 120});
  return made;
}

std::string one_code(std::string_view text) {
  return markdown_code(shown().name(text, kLongestName));
}

std::string about(const Run& run) {
  std::string archives;
  for (std::size_t i = 0; i < std::min(run.archives.size(), kMostNamed); ++i)
    archives += (i > 0 ? ", " : "") + one_code(run.archives[i]);
  if (run.archives.size() > kMostNamed)
    archives += " and " + std::to_string(run.archives.size() - kMostNamed) + " more";
  return archives + (run.command.empty() ? "" : " of " + one_code(run.command)) + ", " +
         Shown::date(run.begin) + ", " + shown().duration(run.elapsed_s()) + "\n" +
         (run.times_of ? "\n" + chosen_times(run) + "\n" : "");
}

std::string incomplete(const Run& run, const std::string& where = "") {
  std::string text = run.without_room > 0
                         ? "**folded" + where + ":** " + markdown_code(no_room(run)) + "\n\n"
                         : "";
  const std::vector<const Tag*> folded = folded_tags(run);
  for (std::size_t i = 0; i < std::min(folded.size(), kMostNamed); ++i)
    text += "**folded" + where + ":** up to " + one_code(shown_calls(*folded[i])) +
            " may be of tags or label sets that had no room\n\n";
  for (std::size_t i = 0; i < std::min(run.incomplete.size(), kMostNamed); ++i)
    text += "**incomplete:** " +
            one_code(run.incomplete[i].archive + ": " + run.incomplete[i].why) + "\n\n";
  return text;
}

std::string died(const Model& run) {
  if (!run.spans) return "";
  std::string text;
  for (const std::string& line : died_requests(run.spans->died, shown()))
    text += "**died:** " + markdown_code(line) + "\n\n";
  if (const std::uint64_t more = run.spans->died.more(); more > 0)
    text += "and " + std::to_string(more) +
            " more; whole requests: " + markdown_code(how_to_see_died(run.run.archives)) + "\n\n";
  return text;
}

// Writes tables of the tags of each kind.
template <typename Item, typename NameOf, typename CellOf>
std::string tables(const TablesOf<Item>& kinds, NameOf name_of, CellOf cell_of) {
  std::string text;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    if (kinds[kind].empty()) continue;
    std::vector<std::vector<std::string>> rows{{std::string(kTableTitles[kind])}};
    for (const FigureRow& row : kFigures)
      rows.front().emplace_back(compared_heading(row.figure, kind));
    for (const Item* const item : kinds[kind]) {
      rows.push_back({one_code(name_of(*item))});
      for (const FigureRow& row : kFigures) rows.back().push_back(cell_of(*item, row.figure));
    }
    text += TextTable::markdown(rows);
  }
  return text;
}

// Both values, and the change between them.
std::string changed(const ComparedTag& tag, Figure column, const Divisors& divisors) {
  const std::optional<Figure> figure = compared_in(column, tag.now->type);
  if (!figure) return "";
  const std::string before = compared_value(*tag.before, column, shown(), divisors.before);
  const std::string now = compared_value(*tag.now, column, shown(), divisors.now);
  const Difference& change = tag.of(*figure);
  std::string text = before == now ? now : before + " → " + now;
  if (!change.is_known() || !Shown::has_changed(*change.before, *change.now)) return text;
  const std::string percent = shown().change(*change.before, *change.now);
  if (!change.is_real()) return text + " (" + percent + ")";
  return text + " **" + percent + (*change.now > *change.before ? "▲" : "▼") + "**";
}

std::string rest(std::size_t all, std::size_t shown_ones) {
  if (all <= shown_ones) return "";
  return "and " + Shown::counted(all - shown_ones, "more tag") + "\n\n";
}

std::string listed(const std::vector<Condition::Finding>& findings) {
  std::string counts;
  std::string lines;
  std::size_t left = kMostFindings;
  std::size_t more = 0;
  for (const auto outcome :
       {Condition::Outcome::True, Condition::Outcome::Unknown, Condition::Outcome::Passed}) {
    const auto count = std::ranges::count(findings, outcome, &Condition::Finding::outcome);
    if (count == 0) continue;
    counts += (counts.empty() ? "" : ", ") + std::to_string(count) + " " + word_for(outcome);
    for (const Condition::Finding& each : in_short(findings)) {
      if (each.outcome != outcome) continue;
      if (left == 0) {
        ++more;
        continue;
      }
      --left;
      lines += "- " + std::string(outcome == Condition::Outcome::Passed ? "" : "**!** ") +
               markdown_code(shown().name(each.line, 3 * kLongestName)) + "\n";
    }
  }
  if (findings.empty()) return "";
  if (more > 0) lines += "- and " + std::to_string(more) + " more\n";
  return "**Conditions:** " + counts + "\n\n" + lines;
}

}  // namespace

// The fence is longer than each run of backticks in the text.
std::string markdown_code(std::string_view text) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  const bool needs_blanks = text.empty() || text.front() == '`' || text.back() == '`' ||
                            text.front() == ' ' || text.back() == ' ';
  const std::string blank = needs_blanks ? " " : "";
  return fence + blank + std::string(text) + blank + fence;
}

std::string markdown(const Model& run, const std::vector<Condition::Finding>& findings) {
  std::string text = died(run) + incomplete(run.run) + about(run.run) + "\n";
  TablesOf<Tag> kinds;
  for (std::size_t i = 0; i < std::min(run.tags.size(), kMostRows); ++i)
    kinds[table_of(run.tags[i].type)].push_back(&run.tags[i]);
  text += tables(
      kinds, [](const Tag& tag) { return tag.name; },
      [](const Tag& tag, Figure column) { return compared_value(tag, column, shown()); });
  text += rest(run.tags.size(), kMostRows);
  std::vector<const Tag*> rows;
  for (const auto& kind : kinds) rows.insert(rows.end(), kind.begin(), kind.end());
  for (const auto& [sign, note] : notes_of(rows, shown()))
    text += "- " + one_code(sign) + " " + note + "\n";
  if (run.spans) text += "\n" + why_slow_markdown(*run.spans, shown());
  return text + (text.ends_with("\n\n") ? "" : "\n") + listed(findings);
}

std::string markdown(const Totals& base, const Totals& now, const Comparison& comparison,
                     const std::vector<Condition::Finding>& findings) {
  std::string text = incomplete(base.run, " in the older run") +
                     incomplete(now.run, " in the newer run") + "was: " + about(base.run) +
                     "\nnow: " + about(now.run) + "\n";
  text += tables(
      by_kind(comparison, kMostRows), [](const ComparedTag& tag) { return tag.now->name; },
      [&](const ComparedTag& tag, Figure column) {
        return changed(tag, column, comparison.divisors);
      });
  text += rest(comparison.tags.size(), kMostRows);
  if (!comparison.divisors.are_one())
    text += markdown_code("calls, failed, total and added are" +
                          per_how_many(comparison.divisors, shown(), kLongestName)) +
            "\n\n";
  if (!comparison.tags.empty()) text += "Bold: more than noise.\n\n";
  return text + listed(findings);
}

}  // namespace pcp::trace::command
