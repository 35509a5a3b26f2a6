// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/summary_table.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "command/run/groups.hpp"
#include "command/show/text_table.hpp"
#include "wire/dimensions.hpp"

namespace pcp::trace::command {

std::vector<std::size_t> deal_lines(const std::vector<std::vector<std::size_t>>& tables,
                                    std::size_t lines) {
  std::vector<std::size_t> shown(tables.size());
  for (bool dealt = true; dealt;) {
    dealt = false;
    for (std::size_t i = 0; i < tables.size(); ++i) {
      for (int turn = i == 0 ? 2 : 1; turn > 0 && shown[i] < tables[i].size(); --turn) {
        const std::size_t needed = tables[i][shown[i]];
        if (needed > lines) break;
        ++shown[i];
        lines -= needed;
        dealt = true;
      }
    }
  }
  return shown;
}

namespace {

constexpr int kLeastNameColumns = 24;
constexpr int kAfterThoseOfReports = 9;  // drops columns of live tables

// A row of a table, and the one of its worst label set.
struct Entry {
  Tag tag;
  std::size_t label_sets = 1;
  std::optional<Tag> worst = {};
  bool is_shown = false;

  std::size_t lines() const { return worst ? 2 : 1; }
};

struct Section {
  std::size_t table = 0;
  std::vector<Entry> entries;
  std::size_t shown = 0;  // entries
};

// The label set that failed most often, or else the slowest one: by p99, or the maximum, or calls.
const Tag& worst_of(const std::vector<Tag>& tags, const std::vector<std::size_t>& members) {
  const auto badness = [&](std::size_t member) {
    const Tag& tag = tags[member];
    return std::tuple(tag.calls > 0 ? tag.failed.value_or(0) / tag.calls : 0,
                      tag.percentiles[kP99].value_or(value_of(tag.max).value_or(0)), tag.calls);
  };
  return tags[*std::ranges::max_element(members, {}, badness)];
}

// The line about an uneven name; end() if there is none.
auto uneven_line(const Tag& tag, const std::vector<Imbalance>& uneven) {
  return std::ranges::find_if(uneven, [&](const Imbalance& each) {
    return each.type == tag.type && each.name == bare_name(tag.name);
  });
}

// Gives the label sets with the value that makes the name uneven; all if it is not.
std::vector<std::size_t> uneven_of(const std::vector<Tag>& tags,
                                   const std::vector<std::size_t>& members,
                                   const std::vector<Imbalance>& uneven) {
  const auto its = uneven_line(tags[members.front()], uneven);
  if (its == uneven.end()) return members;
  std::vector<std::size_t> found;
  std::ranges::copy_if(members, std::back_inserter(found), [&](std::size_t member) {
    const auto labels = parse_dimensions(tags[member].name);
    const std::string* const value = labels ? labels->find(its->label) : nullptr;
    return value != nullptr && *value == its->values.front().value;
  });
  return found.empty() ? members : found;
}

std::vector<Entry> entries_of(const std::vector<Tag>& tags, bool folds,
                              const std::vector<Imbalance>& uneven) {
  std::vector<Entry> entries;
  if (!folds) {
    for (const Tag& tag : tags) entries.push_back({tag});
    return entries;
  }
  Groups groups = group_by_name(tags);
  for (std::size_t i = 0; i < groups.tags.size(); ++i) {
    const std::vector<std::size_t>& members = groups.members[i];
    Entry& entry = entries.emplace_back(Entry{std::move(groups.tags[i]), members.size()});
    if (members.size() > 1)
      entry.worst = worst_of(tags, uneven_of(tags, members, uneven));
    else
      entry.tag.name = tags[members.front()].name;
  }
  return entries;
}

std::vector<Section> sections_of(const std::vector<Tag>& tags, const TableChoice& choice,
                                 const std::vector<Imbalance>& uneven) {
  std::array<std::vector<Tag>, kTableTitles.size()> of_table;
  // A tag that transactions only began as says nothing, unless folded calls may be its own.
  for (const Tag& tag : tags)
    if (tag.folded || !may_have_got_labels(tag, tags)) of_table[table_of(tag.type)].push_back(tag);
  std::vector<Section> sections;
  for (std::size_t table = 0; table < of_table.size(); ++table) {
    if (of_table[table].empty()) continue;
    Section& section = sections.emplace_back(
        Section{table, entries_of(of_table[table], !choice.by && !choice.shows_all, uneven), 0});
    if (choice.sort)
      std::ranges::stable_sort(section.entries, std::greater<>(), [&](const Entry& entry) {
        return value_in(*choice.sort, entry.tag).value_or(-std::numeric_limits<double>::infinity());
      });
  }
  return sections;
}

std::vector<TextTable::Column> columns_for(std::span<const Tag> tags, std::optional<Figure> sort,
                                           bool is_live) {
  const auto has = [&](auto is) { return std::ranges::any_of(tags, is); };
  const bool has_open = is_live && has([](const Tag& tag) { return tag.in_flight.has_value(); });
  const bool some_failed = has([](const Tag& tag) { return has_failed(tag); });
  std::vector<TextTable::Column> columns;
  for (const FigureRow& row : kFigures) {
    const bool is_sort = row.figure == sort;
    const bool is_there = row.figure == Figure::Failed     ? some_failed
                          : row.figure == Figure::InFlight ? has_open
                          : row.figure == Figure::Calls    ? !is_live || is_sort || some_failed
                          : row.figure == Figure::Rate     ? !is_live || is_sort || !some_failed
                                                           : true;
    int rank = row.summary.dropped;
    if (is_live && (rank == 0 || row.figure == Figure::Rate)) rank += kAfterThoseOfReports;
    columns.push_back({is_there ? row.summary.width : 0, is_sort ? 0 : rank});
  }
  return columns;
}

class TablePrinter {
 public:
  TablePrinter(const Shown& shown, std::span<const Tag> tags, const TableChoice& choice)
      : shown_(shown), gives_room_(choice.shows_all), table_(shown, tags, choice.sort, false) {}

  std::string heading(const Section& section) const;
  std::string rows(const Entry& entry, const std::string& name) const;

  // The names of rows, as they are shown.
  std::vector<std::string> names(std::span<const Entry> entries) const;

 private:
  std::string row(const std::string& name, const Tag& tag) const {
    return table_.row(name, tag) + "\n";
  }
  std::string behind_name(const Entry& entry) const;

  const Shown& shown_;
  const bool gives_room_;  // a name that is too long for its column gets a line of its own
  const TagTable table_;
};

std::string TablePrinter::heading(const Section& section) const {
  return shown_.bold(table_.heading(section.table)) + "\n";
}

std::string TablePrinter::rows(const Entry& entry, const std::string& name) const {
  const std::size_t room = table_.name_width();
  if (gives_room_ && columns_of(name) > room) return name + "\n" + row("", entry.tag);
  std::string text = row(name, entry.tag);
  if (!entry.worst) return text;
  const std::string labels = entry.worst->name.substr(bare_name(entry.worst->name).size());
  return text +
         row("  " + (labels.empty() ? "(no labels)" : shown_.name(labels, room - 2)), *entry.worst);
}

std::vector<std::string> TablePrinter::names(std::span<const Entry> entries) const {
  const std::size_t columns = gives_room_ ? shown_.terminal().columns : table_.name_width();
  std::vector<NameToCut> to_cut;
  for (const Entry& each : entries)
    to_cut.push_back({each.tag.name, room_after(columns, columns_of(behind_name(each)))});
  std::vector<std::string> names = shown_.names(to_cut);
  for (std::size_t i = 0; i < names.size(); ++i) names[i] += behind_name(entries[i]);
  return names;
}

// How many label sets the row has, and the unit.
std::string TablePrinter::behind_name(const Entry& entry) const {
  const bool has_sets = entry.label_sets > 1;
  return (has_sets ? " {" + Shown::count(static_cast<double>(entry.label_sets)) + " sets}" : "") +
         table_.unit(entry.tag);
}

// Chooses entries for so many lines, with those of headings: the first one, and those that are
// uneven, in any case. They keep their order.
void choose(std::vector<Section>& sections, const std::vector<Imbalance>& uneven,
            std::size_t lines) {
  std::size_t needed = 0;
  std::size_t needed_in_any_case = 0;
  std::vector<std::vector<Entry*>> tables;
  std::vector<std::vector<std::size_t>> lines_of;
  for (Section& section : sections) {
    std::vector<Entry*>& table = tables.emplace_back();
    for (Entry& entry : section.entries) table.push_back(&entry);
    const auto rest = std::stable_partition(table.begin(), table.end(), [&](const Entry* entry) {
      return uneven_line(entry->tag, uneven) != uneven.end();
    });
    auto in_any_case = static_cast<std::size_t>(rest - table.begin());
    if (tables.size() == 1 && in_any_case == 0) in_any_case = 1;
    std::vector<std::size_t>& its = lines_of.emplace_back();
    for (const Entry* const entry : table) its.push_back(entry->lines());
    its.front() += tables.size() == 1 ? 1 : 2;  // the heading, and an empty line
    needed = std::accumulate(its.begin(), its.end(), needed);
    for (std::size_t& each : std::span(its).first(in_any_case))
      needed_in_any_case += std::exchange(each, 0);
  }
  const std::vector<std::size_t> dealt =
      deal_lines(lines_of, room_after(lines, needed_in_any_case + (needed > lines ? 1 : 0)));
  for (std::size_t i = 0; i < tables.size(); ++i) {
    for (Entry* const entry : std::span(tables[i]).first(dealt[i])) entry->is_shown = true;
    std::stable_partition(sections[i].entries.begin(), sections[i].entries.end(),
                          [](const Entry& entry) { return entry.is_shown; });
    sections[i].shown = dealt[i];
  }
}

// Tells where to find the tags that are not in the tables.
std::string rest_of(const std::vector<Section>& sections, bool has_page) {
  std::size_t tags = 0;
  std::size_t failed = 0;
  for (const Section& section : sections) {
    for (const Entry& entry : std::span(section.entries).subspan(section.shown)) {
      tags += entry.label_sets;
      failed += has_failed(entry.tag) ? 1 : 0;
    }
  }
  std::string text = "and " + Shown::counted(tags, "more tag");
  if (failed > 0)
    text += ", " + Shown::count(static_cast<double>(failed)) + " of them with failed calls";
  return text + (has_page ? ": see the page, or --all" : ": --all, or the page (--html FILE)");
}

}  // namespace

std::optional<double> value_in(Figure column, const Tag& tag) {
  const std::optional<Figure> figure = figure_in(column, tag.type);
  return figure ? value_of(tag, *figure) : std::nullopt;
}

std::string shown_figure(Figure figure, const Tag& tag, const Shown& shown) {
  constexpr double kLeastBusy = 0.01;  // a lesser one is too wide for its column
  const double value = *value_of(tag, figure);
  using Unit = FigureRow::Unit;
  const Unit unit = row_of(figure).unit;
  if (unit == Unit::Count) return Shown::count(value);
  if (unit == Unit::Rate || unit == Unit::Percent) return Shown::measured(value);
  if (unit == Unit::Number)
    return value > 0 && value < kLeastBusy ? "<0.01" : Shown::measured(value);
  const bool is_lower_limit = figure == Figure::Max && !tag.max->is_exact;
  return (is_lower_limit ? shown.at_least() : "") + shown.value(tag.type, value);
}

TagTable::TagTable(const Shown& shown, std::span<const Tag> tags, std::optional<Figure> sort,
                   bool is_live)
    : shown_(shown),
      table_(columns_for(tags, sort, is_live),
             std::min(kLeastNameColumns, static_cast<int>(shown.terminal().columns / 2)), shown) {}

std::vector<std::string> TagTable::rows(std::span<const Tag* const> tags) const {
  std::vector<NameToCut> to_cut;
  for (const Tag* const tag : tags)
    to_cut.push_back({tag->name, room_after(name_width(), columns_of(unit(*tag)))});
  std::vector<std::string> lines = shown_.names(to_cut);
  for (std::size_t i = 0; i < tags.size(); ++i) lines[i] = row(lines[i] + unit(*tags[i]), *tags[i]);
  return lines;
}

std::string TagTable::heading(std::size_t table) const {
  return table_.line(shown_.beginning(kTableTitles[table], name_width()), [&](std::size_t i) {
    return std::string(heading_of(kFigures[i].figure, table));
  });
}

std::string TagTable::row(const std::string& name, const Tag& tag) const {
  return table_.line(name, [&](std::size_t i) {
    const bool is_bad = kFigures[i].figure == Figure::Failed && has_failed(tag);
    return TextTable::Cell(" " + cell(kFigures[i].figure, tag), is_bad ? &Shown::bad : nullptr);
  });
}

std::string TagTable::unit(const Tag& tag) const {
  constexpr std::size_t kMostOfUnit = 8;
  const bool has_unit = tag.type == TraceType::Observe || tag.type == TraceType::Counter;
  return has_unit && !tag.unit.empty() ? " [" + shown_.name(tag.unit, kMostOfUnit) + "]" : "";
}

std::string TagTable::cell(Figure column, const Tag& tag) const {
  const std::optional<Figure> figure = figure_in(column, tag.type);
  if (!figure) return "";
  const bool has_others = has_histogram(tag.type) || column == Figure::Rate;
  if (!value_of(tag, *figure)) return has_others && column != Figure::Busy ? shown_.nothing() : "";
  return shown_figure(*figure, tag, shown_);
}

Result<Figure> parse_column(const std::string& text, bool is_live) {
  std::string names;
  for (const FigureRow& row : kFigures) {
    if (row.summary.sort.empty() || (row.figure == Figure::InFlight && !is_live)) continue;
    if (text == row.summary.sort) return row.figure;
    names += (names.empty() ? "" : ", ") + std::string(row.summary.sort);
  }
  return Error{"unknown column \"" + text + "\"; columns are " + names};
}

SummaryTables summary_tables(const std::vector<Tag>& tags, const TableChoice& choice,
                             const std::vector<Imbalance>& uneven, std::size_t lines, bool has_page,
                             const Shown& shown) {
  std::vector<Section> sections = sections_of(tags, choice, uneven);
  if (choice.top || choice.shows_all || choice.by) {
    for (Section& section : sections)
      section.shown = std::min(choice.top.value_or(tags.size()), section.entries.size());
  } else {
    choose(sections, uneven, lines);
  }
  const TablePrinter printer(shown, tags, choice);
  SummaryTables tables;
  bool are_all = true;
  for (const Section& section : sections) {
    are_all = are_all && section.shown == section.entries.size();
    if (section.shown == 0) continue;
    const auto entries = std::span(section.entries).first(section.shown);
    const std::vector<std::string> names = printer.names(entries);
    tables.text += (tables.text.empty() ? "" : "\n") + printer.heading(section);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      tables.text += printer.rows(entries[i], names[i]);
      tables.rows.push_back(entries[i].tag);
      if (entries[i].worst) tables.rows.push_back(*entries[i].worst);
    }
  }
  if (!are_all) tables.text += shown.faint(rest_of(sections, has_page)) + "\n";
  return tables;
}

}  // namespace pcp::trace::command
