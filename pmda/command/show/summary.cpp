// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include "command/run/figures.hpp"
#include "command/run/imbalance.hpp"
#include "command/show/model_json.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::size_t kMostLines = 25;
constexpr std::size_t kMostArchives = 2;  // named archives

constexpr std::size_t kLongestLine = 400;  // of a line that may be longer than the terminal

constexpr std::size_t kLabel = 9;  // width of the labels at the end

std::string labelled(const Shown& shown, std::string_view label, const std::string& text) {
  return shown.faint(Shown::left(label, kLabel)) + text + "\n";
}

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
    after =
        "at " + Shown::time(*moment.at) + ", " + shown.duration(since_begin_s) + " from the start";
  } else if (moment.at) {
    const double within_s = moment.within_s.value_or(0);
    if (within_s > 0) after = "in the " + (within_s == 1 ? "second" : shown.duration(within_s));
    const auto at = std::chrono::floor<std::chrono::milliseconds>(moment.at->time_since_epoch());
    after += (after.empty() ? "before " : " before ") + Shown::time(*moment.at);
    if (within_s > 0 && within_s < 1)
      after += "." + std::to_string(1000 + at.count() % 1000).substr(1);
  }
  constexpr std::size_t kLeastName = 12;
  const std::size_t room = shown.terminal().columns - kLabel;
  const bool is_exact = moment.at && (!slowest->max || slowest->max->is_exact);
  std::string line = (moment.is_p99 ? "p99 "
                      : is_exact    ? ""
                                    : shown.at_least()) +
                     shown.duration(moment.value) + " in ";
  const std::size_t beside = room_after(room, columns_of(line) + columns_of(after) + 2);
  line +=
      shown.name(slowest->name, beside < kLeastName ? room_after(room, columns_of(line)) : beside);
  std::string lines;
  const auto add = [&](const std::string& separator, const std::string& text) {
    const bool fits = columns_of(line) + separator.size() + columns_of(text) <= room;
    if (!fits) lines += labelled(shown, lines.empty() ? "slowest" : "", std::exchange(line, ""));
    line += (fits ? separator : "") + text;
  };
  if (!after.empty()) add(", ", after);
  return lines + labelled(shown, lines.empty() ? "slowest" : "", line);
}

// Open transactions that hung or were forgotten: the tags with the most, in order.
std::string open_line(const std::vector<Tag>& tags, const Shown& shown) {
  constexpr std::size_t kMostTags = 3;
  constexpr std::size_t kLeastName = 6;  // columns, although a great count leaves less room
  const auto open = [](const Tag* tag) { return tag->vanished.value_or(0); };
  std::vector<const Tag*> found;
  for (const Tag& tag : tags)
    if (open(&tag) > 0) found.push_back(&tag);
  if (found.empty()) return "";
  std::stable_sort(found.begin(), found.end(),
                   [&](const Tag* a, const Tag* b) { return open(a) > open(b); });
  std::string text = "not ended with their program: ";
  const std::size_t named = std::min(found.size(), kMostTags);
  const std::size_t room = room_after(shown.terminal().columns, kLabel + text.size() + 16) / named;
  for (std::size_t i = 0; i < named; ++i) {
    const std::string count = Shown::count(open(found[i])) + " ";
    const std::size_t used = count.size() + 2;
    text += (i > 0 ? ", " : "") + count +
            shown.name(found[i]->name, std::max(room, used + kLeastName) - used);
  }
  if (found.size() > named) text += ", and " + Shown::counted(found.size() - named, "more tag");
  return labelled(shown, "open", text);
}

// The first totals that are spread unevenly over processes.
std::vector<Imbalance> uneven_totals(const std::vector<Imbalance>& imbalances) {
  constexpr std::size_t kMost = 3;
  std::vector<Imbalance> found;
  for (const Imbalance& each : imbalances)
    if (found.size() < kMost && is_uneven(each)) found.push_back(each);
  return found;
}

// Names both ends: the process with the least is the slow one if the others wait for it.
std::string uneven_lines(const std::vector<Imbalance>& uneven, const Shown& shown) {
  constexpr std::size_t kMostOfLeast = 16;
  constexpr std::size_t kLeastRoom = 12;  // for the name and the value of a label
  std::string lines;
  for (const Imbalance& each : uneven) {
    std::string what = (each.type == TraceType::Transact ? " takes " : " has ") +
                       Shown::measured(each.ratio()) +
                       shown.sign(" × the mean of ", " x the mean of ") +
                       Shown::count(static_cast<double>(each.count)) + " (" +
                       shown.value(each.type, each.greatest());
    const std::string least = "; " + shown.name(each.label + "=" + each.least_value, kMostOfLeast) +
                              ": " + shown.value(each.type, each.least);
    const auto room_with = [&](const std::string& text) {
      return room_after(shown.terminal().columns, kLabel + columns_of(text) + 3);
    };
    if (room_with(what + least) >= kLeastRoom) what += least;
    what += ")";
    const std::size_t room = std::max(room_with(what) + 1, kLeastRoom);
    const std::string value = shown.name(each.label + "=" + each.values.front().value,
                                         room - std::min(room / 2, columns_of(each.name)));
    std::string text = shown.name(each.name, room_after(room, columns_of(value)));
    text.append(": ").append(value).append(what);
    lines += labelled(shown, lines.empty() ? "uneven" : "", text);
  }
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
                      shown.name(run.archives[i], room_after(room, rest.size())) + rest);
  }
  return lines + page_line(page, shown);
}

std::string hosts_of(const Run& run, const Shown& shown, std::size_t room) {
  if (run.hosts.size() == 1) return "on " + shown.name(run.hosts.front(), room);
  std::string names;
  for (const std::string& host : run.hosts) names += (names.empty() ? "" : ", ") + host;
  return "on " + std::to_string(run.hosts.size()) + " hosts: " + shown.name(names, room);
}

std::string folded_line(const Run& run, const Shown& shown, const std::string& where) {
  constexpr std::size_t kMostNames = 3;
  std::string why = run.without_room > 0 ? "folded" + where + ": " + no_room(run) + "\n" : "";
  const std::vector<const Tag*> tags = folded_tags(run);
  if (tags.empty()) return why;
  std::string text;
  for (std::size_t i = 0; i < std::min(tags.size(), kMostNames); ++i)
    text += (i > 0 ? ", " : "") + shown_calls(*tags[i]);
  if (tags.size() > kMostNames)
    text += ", and of " + Shown::counted(tags.size() - kMostNames, "more tag");
  return why + "folded" + where + ": up to " + shown.name(text, kLongestLine) +
         " may be of tags or label sets that had no room\n";
}

}  // namespace

std::string page_line(const std::string& page, const Shown& shown) {
  return page.empty() ? ""
                      : labelled(shown, "page",
                                 shown.name(page, room_after(shown.terminal().columns, kLabel)));
}

std::vector<Note> notes_of(const std::vector<const Tag*>& rows, const Shown& shown) {
  const char* unknown = nullptr;
  bool is_inexact = false;
  bool has_intervals = false;  // without those in which the run begins and ends
  double missing = 0;          // the greatest missing share of a tag's calls
  double other = 0;            // the same of calls that are missing, or from other times
  double nonfinite = 0;        // values
  bool lacks_some = false;     // rows that lack failed calls
  for (const Tag* const row : rows) {
    const Tag& tag = *row;
    lacks_some = lacks_some || lacks_failed(tag, Figure::Calls);
    if (!has_histogram(tag.type)) continue;
    if (unknown == nullptr && tag.lacks_times)
      unknown = "some failed calls have no duration; --completed shows those of completed ones";
    if (unknown == nullptr) unknown = words_for(tag.percentile_source).note;
    nonfinite += tag.nonfinite.value_or(0);
    if (unknown == nullptr && tag.type == TraceType::Observe && !tag.nonfinite)
      unknown = "trace.observe.nonfinite was not recorded: some values may be NaN or inf";
    is_inexact = is_inexact || (tag.max && !tag.max->is_exact && !may_have_nonfinite(tag));
    const bool is_of_intervals = tag.percentile_source == PercentileSource::WholeIntervals;
    has_intervals |= is_of_intervals;
    if (is_of_intervals || tag.percentile_source == PercentileSource::NearlyAllCalls)
      missing = std::max(missing, 1 - (static_cast<double>(tag.distribution->total()) +
                                       tag.nonfinite.value_or(0)) /
                                          valued_calls(tag));
    if (tag.percentile_source == PercentileSource::NearbyTimes) {
      const double of_run = static_cast<double>(tag.distribution->total()) - tag.outside;
      const double finite = finite_calls(tag);
      other = std::max(other, (std::abs(finite - of_run) + tag.outside) / finite);
    }
  }
  std::vector<Note> notes;
  const auto note = [&](std::string_view sign, const std::string& text) {
    notes.push_back({std::string(sign), text});
  };
  if (lacks_some) note("calls", "of some tags have no failed ones: those were not recorded");
  if (other > 0)
    note("p50..p99", "of nearby distributions, which differ by up to " +
                         Shown::number(other * 100) + "% of a tag's calls");
  else if (missing > 0)
    note("p50..p99", "miss up to " + Shown::number(missing * 100) + "% of a tag's calls: " +
                         (has_intervals ? "those of the agent's first and last interval"
                                        : "no recorded distribution has them"));
  if (nonfinite > 0)
    note("NaN, inf", Shown::count(nonfinite) + (nonfinite == 1 ? " value is" : " values are") +
                         " not finite: counted as calls, in no other column");
  if (unknown != nullptr) note(shown.nothing(), unknown);
  if (is_inexact)
    note(shown.at_least(), "at least this: some calls are in none of the recorded intervals");
  return notes;
}

std::string incompleteness(const Run& run, const Shown& shown, const std::string& where) {
  constexpr std::size_t kMostReasons = 3;
  const std::size_t named = std::min(run.incomplete.size(), kMostReasons);
  std::string lines;
  for (std::size_t i = 0; i < named; ++i) {
    const Incomplete& each = run.incomplete[i];
    lines +=
        shown.bad("incomplete: " + shown.name(each.archive + ": " + each.why, kLongestLine)) + "\n";
  }
  if (const std::size_t more = run.incomplete.size() - named; more > 0)
    lines += shown.bad("incomplete: " + std::to_string(more) + " more archives") + "\n";
  return lines + folded_line(run, shown, where);
}

std::string summary_head(const Run& run, const Shown& shown) {
  const std::size_t columns = shown.terminal().columns;
  std::string samples = std::to_string(run.samples) + (run.samples == 1 ? " sample" : " samples");
  const bool are_several = run.archives.size() > 1;
  if (are_several) samples += " of " + std::to_string(run.archives.size()) + " archives";
  if (run.interval)
    samples += (are_several ? ", " : " ") +
               shown.duration(std::chrono::duration<double>(*run.interval).count()) + " apart";
  std::string when =
      Shown::date(run.begin) + ", " + shown.duration(run.elapsed_s()) + ", " + samples;
  // Nothing is missing between two recordings of a program.
  const bool are_of_programs = !run.command.empty() && are_several;
  if (!run.gaps.empty() && !are_of_programs)
    when += ", " + std::to_string(run.gaps.size()) + (run.gaps.size() == 1 ? " gap" : " gaps");
  const std::string where = hosts_of(run, shown, columns / 2);
  if (run.times_of) when += "\n" + chosen_times(run);
  if (run.command.empty()) return shown.bold(where) + "\n" + when + "\n";
  const std::size_t room = room_after(columns, columns_of(where) + 2);
  return shown.bold(shown.name(run.command, room)) + "  " + where + "\n" + when + "\n";
}

std::string summary(const Totals& totals, const std::string& page, const Terminal& terminal,
                    const TableChoice& choice) {
  const auto& [run, tags, imbalances] = totals;
  const Shown shown(terminal);
  const std::string head = incompleteness(run, shown) + summary_head(run, shown) + "\n";
  const std::vector<Imbalance> uneven = uneven_totals(imbalances);
  std::string tail = uneven_lines(uneven, shown) + slowest_line(run, tags, shown) +
                     open_line(tags, shown) + files(run, page, shown);
  if (tags.empty())
    return head +
           (!choice.chosen_by.empty() ? "No tag matches " + choice.chosen_by + ".\n\n"
            : run.incomplete.empty()
                ? "Nothing was traced. Does the program call a trace library?\n"
                  "Set PCP_TRACE_DEBUG=api,comms in its environment to see why.\n\n"
                : "The archive has no traced calls.\n\n") +
           tail;
  constexpr std::size_t kMostNotes = 2;
  const SummaryTables tables = summary_tables(
      tags, choice, uneven,
      room_after(kMostLines, lines_of(head).size() + lines_of(tail).size() + 1 + kMostNotes),
      !page.empty(), shown);
  std::vector<const Tag*> rows;
  for (const Tag& row : tables.rows) rows.push_back(&row);
  std::string notes;
  for (const auto& [sign, text] : notes_of(rows, shown))
    notes += labelled(shown, sign, shown.faint(text));
  return head + tables.text + "\n" + notes + tail;
}

}  // namespace pcp::trace::command
