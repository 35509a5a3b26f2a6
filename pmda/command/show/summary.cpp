// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/summary.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "command/show/model_json.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::size_t kMostLines = 25;
constexpr std::size_t kMostArchives = 2;  // named archives

constexpr std::size_t kWideColumns = 8;
constexpr std::size_t kFailedColumns = 7;
constexpr std::size_t kMaxColumns = 9;
constexpr std::size_t kLastColumns = 7;
constexpr std::size_t kLabel = 9;  // width of the labels at the end

using Tags = std::vector<const Tag*>;

// A heading and a line for each tag.
struct Section {
  std::string_view title;
  std::string_view calls;  // the heading for calls
  std::string_view last;   // the heading of the last column
  Tags tags;
  std::size_t rows = 0;  // shown tags
};

class PrintedTags {
 public:
  PrintedTags(const Shown& shown, bool shows_failed)
      : shown_(shown),
        shows_failed_(shows_failed),
        name_columns_(shown.terminal().columns - kWideColumns * 5 - kMaxColumns - kLastColumns -
                      (shows_failed ? kFailedColumns : 0)) {}

  std::string heading(const Section& section) const;
  std::string row(const Tag& tag) const;

 private:
  std::string percentile(const Tag& tag, std::size_t which) const {
    const auto& known = tag.percentiles[which];
    return known ? shown_.value(tag.type, *known) : has_histogram(tag.type) ? shown_.nothing() : "";
  }
  std::string name(const Tag& tag) const;
  std::string failed(const Tag& tag) const;
  std::string max(const Tag& tag) const;
  std::string last(const Tag& tag) const;

  const Shown& shown_;
  bool shows_failed_;
  std::size_t name_columns_;
};

std::string in_column(std::string_view text, std::size_t columns) {
  return " " + Shown::right(text, columns - 1);
}

std::string PrintedTags::heading(const Section& section) const {
  const bool has_distribution = has_histogram(section.tags.front()->type);
  std::string line = Shown::left(section.title, name_columns_);
  line += in_column(section.calls, kWideColumns) + in_column("/s", kWideColumns);
  if (shows_failed_)
    line += in_column(section.tags.front()->type == TraceType::Transact ? "failed" : "",
                      kFailedColumns);
  for (const char* const name : {"p50", "p95", "p99"})
    line += in_column(has_distribution ? name : "", kWideColumns);
  line += in_column(has_distribution ? "max" : "added", kMaxColumns) +
          in_column(section.last, kLastColumns);
  return shown_.bold(line) + "\n";
}

std::string PrintedTags::row(const Tag& tag) const {
  std::string line = Shown::left(name(tag), name_columns_);
  line += in_column(Shown::count(tag.calls), kWideColumns);
  line += in_column(tag.rate ? Shown::measured(*tag.rate) : shown_.nothing(), kWideColumns);
  if (shows_failed_) line += failed(tag);
  for (const std::size_t which : {kP50, kP95, kP99})
    line += in_column(percentile(tag, which), kWideColumns);
  line += in_column(max(tag), kMaxColumns) + in_column(last(tag), kLastColumns);
  return Shown::trimmed(line) + "\n";
}

// With the unit of the values; times have units themselves.
std::string PrintedTags::name(const Tag& tag) const {
  constexpr std::size_t kMostOfUnit = 8;
  const bool has_values = tag.type == TraceType::Observe || tag.type == TraceType::Counter;
  const std::string unit =
      has_values && !tag.unit.empty() ? " [" + shown_.name(tag.unit, kMostOfUnit) + "]" : "";
  return shown_.name(tag.name, name_columns_ - columns_of(unit)) + unit;
}

std::string PrintedTags::failed(const Tag& tag) const {
  if (tag.type != TraceType::Transact) return std::string(kFailedColumns, ' ');
  const std::string text =
      in_column(tag.failed ? Shown::count(*tag.failed) : shown_.nothing(), kFailedColumns);
  return tag.failed.value_or(0) > 0 ? shown_.bad(text) : text;
}

std::string PrintedTags::max(const Tag& tag) const {
  if (!has_histogram(tag.type)) {
    const bool was_added_to = tag.counted && (*tag.counted != 0 || !tag.last);
    return was_added_to ? Shown::number(*tag.counted) : "";
  }
  if (!tag.max) return shown_.nothing();
  return (tag.max->is_exact ? "" : shown_.at_least()) + shown_.value(tag.type, tag.max->value);
}

std::string PrintedTags::last(const Tag& tag) const {
  if (tag.type == TraceType::Transact)
    return tag.busy ? Shown::measured(*tag.busy < 0.001 ? 0 : *tag.busy) : "";
  return tag.last ? Shown::number(*tag.last) : "";
}

std::vector<Section> sections_of(const std::vector<Tag>& tags) {
  std::vector<Section> sections{{"Transactions", "calls", "busy", {}},
                                {"Observations", "values", "last", {}},
                                {"Points, counters", "calls", "value", {}}};
  for (const Tag& tag : tags)
    sections[tag.type == TraceType::Transact  ? 0
             : tag.type == TraceType::Observe ? 1
                                              : 2]
        .tags.push_back(&tag);
  std::erase_if(sections, [](const Section& section) { return section.tags.empty(); });
  return sections;
}

// Distributes lines over the sections; the first section gets two for each of the others'.
void deal_rows(std::vector<Section>& sections, std::size_t lines) {
  for (bool dealt = true; dealt && lines > 0;) {
    dealt = false;
    for (std::size_t i = 0; i < sections.size(); ++i) {
      Section& section = sections[i];
      const std::size_t more =
          std::min({lines, section.tags.size() - section.rows, std::size_t{i == 0 ? 2U : 1U}});
      section.rows += more;
      lines -= more;
      dealt = dealt || more > 0;
    }
  }
}

std::string labelled(const Shown& shown, std::string_view label, const std::string& text) {
  return shown.faint(Shown::left(label, kLabel)) + text + "\n";
}

bool has_failed(const Tag& tag) { return tag.failed.value_or(0) > 0; }

std::string slowest_line(const Run& run, const std::vector<Tag>& tags, const Shown& shown) {
  const Tag* slowest = nullptr;
  for (const Tag& tag : tags) {
    if (tag.type != TraceType::Transact || !tag.slowest) continue;
    if (slowest == nullptr || tag.slowest->value > slowest->slowest->value) slowest = &tag;
  }
  if (slowest == nullptr) return "";
  const SlowestMoment& moment = *slowest->slowest;
  std::string after;
  if (moment.at && moment.is_begin) {
    const double since_begin_s = std::chrono::duration<double>(*moment.at - run.begin).count();
    after = ", at " + Shown::time(*moment.at) + ", " + shown.duration(since_begin_s) +
            " from the start";
  } else if (moment.at) {
    const double within_s = moment.within_s.value_or(0);
    if (within_s > 0) after = ", in the " + (within_s == 1 ? "second" : shown.duration(within_s));
    const auto at = std::chrono::floor<std::chrono::milliseconds>(moment.at->time_since_epoch());
    after += (after.empty() ? ", before " : " before ") + Shown::time(*moment.at);
    if (within_s > 0 && within_s < 1)
      after += "." + std::to_string(1000 + at.count() % 1000).substr(1);
  }
  const std::string what = (moment.is_p99 ? "p99 "
                            : moment.at   ? ""
                                          : shown.at_least()) +
                           shown.duration(moment.value) + " in ";
  const std::size_t room = shown.terminal().columns - kLabel;
  const std::size_t used = columns_of(what) + columns_of(after);
  const std::string text = what + shown.name(slowest->name, room - used) + after;
  if (std::none_of(tags.begin(), tags.end(), has_failed)) return labelled(shown, "slowest", text);
  const std::string but = "(of those that were not aborted)";
  if (columns_of(text) + 1 + but.size() <= room)
    return labelled(shown, "slowest", text + " " + but);
  return labelled(shown, "slowest", text) + labelled(shown, "", but);
}

// Open transactions that hung or were forgotten: the tags with the most, in order.
std::string open_line(const std::vector<Tag>& tags, const Shown& shown) {
  constexpr std::size_t kMostTags = 3;
  constexpr std::size_t kLeastName = 6;  // columns, although a great count leaves less room
  const auto open = [](const Tag* tag) { return tag->vanished.value_or(0); };
  Tags found;
  for (const Tag& tag : tags)
    if (open(&tag) > 0) found.push_back(&tag);
  if (found.empty()) return "";
  std::stable_sort(found.begin(), found.end(),
                   [&](const Tag* a, const Tag* b) { return open(a) > open(b); });
  std::string text = "not ended with their program: ";
  const std::size_t named = std::min(found.size(), kMostTags);
  const std::size_t room = (shown.terminal().columns - kLabel - text.size() - 16) / named;
  for (std::size_t i = 0; i < named; ++i) {
    const std::string count = Shown::count(open(found[i])) + " ";
    const std::size_t used = count.size() + 2;
    text += (i > 0 ? ", " : "") + count +
            shown.name(found[i]->name, std::max(room, used + kLeastName) - used);
  }
  if (found.size() > named) text += ", and " + std::to_string(found.size() - named) + " tags";
  return labelled(shown, "open", text);
}

// Explains the signs in the shown rows.
std::string notes(const std::vector<Section>& sections, const Shown& shown) {
  const char* unknown = nullptr;
  bool is_inexact = false;
  double missing = 0;    // the greatest missing share of a tag's calls
  double nonfinite = 0;  // values
  for (const Section& section : sections) {
    for (std::size_t i = 0; i < section.rows; ++i) {
      const Tag& tag = *section.tags[i];
      if (!has_histogram(tag.type)) continue;
      if (unknown == nullptr) unknown = words_for(tag.percentile_source).note;
      nonfinite += tag.nonfinite.value_or(0);
      is_inexact = is_inexact || (tag.max && !tag.max->is_exact && tag.nonfinite.value_or(0) == 0);
      if (tag.percentile_source == PercentileSource::NearlyAllCalls)
        missing = std::max(missing, 1 - (static_cast<double>(tag.distribution->total()) +
                                         tag.nonfinite.value_or(0)) /
                                            tag.calls);
    }
  }
  std::string lines;
  const auto note = [&](std::string_view sign, const std::string& text) {
    lines += labelled(shown, sign, shown.faint(text));
  };
  if (missing > 0)
    note("p50..p99", "miss up to " + Shown::number(missing * 100) +
                         "% of a tag's calls: a thread had no room for them, or pmlogger"
                         " logged counts and histograms at different moments");
  if (nonfinite > 0)
    note("NaN, inf", Shown::count(nonfinite) + (nonfinite == 1 ? " value is" : " values are") +
                         " not finite, and counted, but in nothing else");
  if (unknown != nullptr) note(shown.nothing(), unknown);
  if (is_inexact) note(shown.at_least(), "or more: some calls came after their interval had ended");
  return lines;
}

std::string files(const Run& run, const std::string& page, const Shown& shown) {
  const std::size_t room = shown.terminal().columns - kLabel;
  std::string lines;
  for (std::size_t i = 0; i < std::min(run.archives.size(), kMostArchives); ++i) {
    const std::size_t more = run.archives.size() - kMostArchives;
    const bool is_last = i + 1 == kMostArchives && run.archives.size() > kMostArchives;
    const std::string rest = is_last ? " and " + std::to_string(more) + " more" : "";
    lines += labelled(shown, i == 0 ? "archive" : "",
                      shown.name(run.archives[i], room - rest.size()) + rest);
  }
  if (!page.empty()) lines += labelled(shown, "page", shown.name(page, room));
  return lines;
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Tells where to find the tags that are not in the table.
std::string rest_of(const std::vector<Section>& sections, bool has_page) {
  std::size_t tags = 0;
  std::ptrdiff_t failed = 0;
  for (const Section& section : sections) {
    tags += section.tags.size() - section.rows;
    failed += std::count_if(section.tags.begin() + static_cast<std::ptrdiff_t>(section.rows),
                            section.tags.end(), [](const Tag* tag) { return has_failed(*tag); });
  }
  std::string text = "and " + Shown::count(static_cast<double>(tags)) + " more tags";
  if (failed > 0)
    text += ", " + Shown::count(static_cast<double>(failed)) + " of them with aborted calls";
  return text + (has_page ? ": see the page" : ": see the page (--html FILE), or --json");
}

std::string table(std::vector<Section>& sections, std::size_t lines, bool has_page,
                  const Shown& shown) {
  const bool shows_failed = std::any_of(sections.front().tags.begin(), sections.front().tags.end(),
                                        [](const Tag* tag) { return has_failed(*tag); });
  std::size_t all = 0;
  for (const Section& section : sections) all += section.tags.size();
  const std::size_t around = 2 * sections.size() - 1;
  const bool is_cut = all + around > lines;
  deal_rows(sections, lines - around - (is_cut ? 1 : 0));

  const PrintedTags table(shown, shows_failed);
  std::string text;
  for (const Section& section : sections) {
    text += (text.empty() ? "" : "\n") + table.heading(section);
    for (std::size_t i = 0; i < section.rows; ++i) text += table.row(*section.tags[i]);
  }
  if (is_cut) text += shown.faint(rest_of(sections, has_page)) + "\n";
  return text;
}

std::string hosts_of(const Run& run, const Shown& shown, std::size_t room) {
  if (run.hosts.size() == 1) return "on " + shown.name(run.hosts.front(), room);
  std::string names;
  for (const std::string& host : run.hosts) names += (names.empty() ? "" : ", ") + host;
  return "on " + std::to_string(run.hosts.size()) + " hosts: " + shown.name(names, room);
}

}  // namespace

std::string incompleteness(const Run& run, const Shown& shown) {
  constexpr std::size_t kMostColumns = 400;  // may be longer than a line
  constexpr std::size_t kMostArchives = 3;
  const std::size_t named = std::min(run.incomplete.size(), kMostArchives);
  std::string lines;
  for (std::size_t i = 0; i < named; ++i) {
    const Incomplete& each = run.incomplete[i];
    lines +=
        shown.bad("incomplete: " + shown.name(each.archive + ": " + each.why, kMostColumns)) + "\n";
  }
  if (const std::size_t more = run.incomplete.size() - named; more > 0)
    lines += shown.bad("incomplete: " + std::to_string(more) + " more archives") + "\n";
  return lines;
}

std::string summary_head(const Run& run, const Shown& shown) {
  const std::size_t columns = shown.terminal().columns;
  std::string samples = std::to_string(run.samples) + (run.samples == 1 ? " sample" : " samples");
  if (run.interval)
    samples +=
        " " + shown.duration(std::chrono::duration<double>(*run.interval).count()) + " apart";
  std::string when =
      Shown::date(run.begin) + ", " + shown.duration(run.elapsed_s()) + ", " + samples;
  if (!run.gaps.empty())
    when += ", " + std::to_string(run.gaps.size()) + (run.gaps.size() == 1 ? " gap" : " gaps");
  const std::string where = hosts_of(run, shown, columns / 2);
  if (run.command.empty()) return shown.bold(where) + "\n" + when + "\n";
  const std::size_t room = columns - columns_of(where) - 2;
  return shown.bold(shown.name(run.command, room)) + "  " + where + "\n" + when + "\n";
}

std::string summary(const Totals& totals, const std::string& page, const Terminal& terminal) {
  const auto& [run, tags] = totals;
  const Shown shown(terminal);
  const std::string head = incompleteness(run, shown) + summary_head(run, shown) + "\n";
  std::string tail =
      slowest_line(run, tags, shown) + open_line(tags, shown) + files(run, page, shown);
  if (tags.empty())
    return head +
           (run.incomplete.empty() ? "Nothing was traced. Does the program call a trace library?\n"
                                     "PCP_TRACE_DEBUG=api,comms in its environment tells.\n\n"
                                   : "Nothing that was traced is here.\n\n") +
           tail;
  std::vector<Section> sections = sections_of(tags);
  constexpr std::size_t kMostNotes = 2;
  const std::string rows =
      table(sections, kMostLines - lines_of(head) - lines_of(tail) - 1 - kMostNotes, !page.empty(),
            shown);
  return head + rows + "\n" + notes(sections, shown) + tail;
}

}  // namespace pcp::trace::command
