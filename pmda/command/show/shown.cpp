// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/shown.hpp"

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>
#include <limits>
#include <map>
#include <sstream>
#include <vector>

#include "base/escape.hpp"
#include "base/utf8.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::size_t kFewestColumns = 40;  // below, lines wrap
constexpr std::size_t kMostColumns = 120;

template <typename... Arguments>
std::string formatted(const char* format, Arguments... arguments) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, arguments...);
  return text.data();
}

// Three digits of a number from 0 to 999.
std::string three_digits(double number) {
  const double size = std::abs(number);
  return formatted(size < 9.995 ? "%.2f" : size < 99.95 ? "%.1f" : "%.0f", number);
}

std::string with_commas(double number) {
  std::string digits = formatted("%.0f", std::abs(number));
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return number < 0 ? "-" + digits : digits;
}

// "1.23 M", for a million and more.
std::string in_millions(double number) {
  constexpr std::array kSigns{"M", "G", "T", "P", "E"};
  double size = number / 1e6;
  std::size_t sign = 0;
  while (std::abs(size) >= 999.5 && sign + 1 < kSigns.size()) {
    size /= 1000;
    ++sign;
  }
  if (std::abs(size) >= 999.5) return formatted("%.2g", number);
  return three_digits(size) + " " + kSigns[sign];
}

std::size_t stays_in_ascii_terminal(std::string_view text) {
  return stays_in_name(text) == 1 ? 1 : 0;
}

std::size_t width_of(const Utf8Character& character) {
  const int columns = ::wcwidth(static_cast<wchar_t>(character.number));
  return columns < 0 ? 1 : static_cast<std::size_t>(columns);
}

// A character in its shown form.
struct Piece {
  std::string text;
  std::size_t columns;
};

std::vector<Piece> pieces_of(std::string_view text, bool is_utf8) {
  const auto stays = is_utf8 ? stays_in_name : stays_in_ascii_terminal;
  std::vector<Piece> pieces;
  while (!text.empty()) {
    const std::size_t columns = stays(text) > 0 ? width_of(first_character(text)) : 4;
    // A mark that combines with a character before it would change what is before the name.
    const bool is_lone_mark = pieces.empty() && columns == 0;
    Piece piece{"", is_lone_mark ? 4 : columns};
    take_escaped(text, piece.text, is_lone_mark ? none_stays : stays);
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

std::size_t width_of(const std::vector<Piece>& pieces) {
  std::size_t columns = 0;
  for (const Piece& piece : pieces) columns += piece.columns;
  return columns;
}

// Shows the first `head` pieces and those from `begin` to `end`, without blanks beside the marks.
std::string cut(const std::vector<Piece>& pieces, std::size_t head, std::size_t begin,
                std::size_t end, const std::string& mark) {
  const auto is_blank = [&pieces](std::size_t i) { return pieces[i].text == " "; };
  while (head > 0 && is_blank(head - 1)) --head;
  while (begin < end && is_blank(begin)) ++begin;
  while (begin < end && end < pieces.size() && is_blank(end - 1)) --end;
  std::string shown;
  for (std::size_t i = 0; i < head; ++i) shown += pieces[i].text;
  shown += mark;
  for (std::size_t i = begin; i < end; ++i) shown += pieces[i].text;
  return end < pieces.size() ? shown + mark : shown;
}

// A quarter of the columns is for the name's beginning, because names often differ at their ends:
// labels are there, and the end of a route is before its status.
std::string without_middle(const std::vector<Piece>& pieces, std::size_t columns,
                           const std::string& mark) {
  std::size_t room = room_after(columns, columns_of(mark));
  std::size_t head = 0;
  std::size_t tail = pieces.size();
  for (int turn = 0; head < tail; ++turn) {
    const bool is_head = turn % 4 == 0;
    const Piece& next = is_head ? pieces[head] : pieces[tail - 1];
    if (next.columns > room) break;
    room -= next.columns;
    is_head ? ++head : --tail;
  }
  return cut(pieces, head, tail, pieces.size(), mark);
}

// The cut is before piece `begin`, where the name differs from others. The name's beginning has a
// quarter of the columns here, too.
std::string cut_before(const std::vector<Piece>& pieces, std::size_t begin, std::size_t columns,
                       const std::string& mark) {
  std::size_t room = room_after(columns, 2 * columns_of(mark));
  const std::size_t least_rest = room - room / 4;
  std::size_t head = 0;
  for (; head < begin && pieces[head].columns + least_rest <= room; ++head)
    room -= pieces[head].columns;
  std::size_t end = begin;
  for (; end < pieces.size() && pieces[end].columns <= room; ++end) room -= pieces[end].columns;
  if (end == pieces.size()) room += columns_of(mark);
  for (; begin > head && pieces[begin - 1].columns <= room; --begin)
    room -= pieces[begin - 1].columns;
  return cut(pieces, head, begin, end, mark);
}

// How many pieces at the front are the same in both.
std::size_t equal_pieces(const std::vector<Piece>& one, const std::vector<Piece>& other) {
  return static_cast<std::size_t>(
      std::ranges::mismatch(one, other, {}, &Piece::text, &Piece::text).in1 - one.begin());
}

std::string beginning_of(const std::vector<Piece>& pieces, std::size_t room) {
  std::string shown;
  for (std::size_t at = 0; at < pieces.size();) {
    const bool is_escape = pieces[at].text == "\\" && at + 1 < pieces.size();
    const std::size_t end = at + (is_escape ? 2 : 1);
    std::size_t needed = 0;
    for (std::size_t i = at; i < end; ++i) needed += pieces[i].columns;
    if (needed > room) return shown;
    room -= needed;
    for (; at < end; ++at) shown += pieces[at].text;
  }
  return shown;
}

// 0: COLUMNS is unset or invalid.
std::size_t wanted_columns() {
  const char* const text = std::getenv("COLUMNS");
  std::size_t columns = 0;
  if (text == nullptr) return 0;
  const char* const end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, columns);
  return error == std::errc() && rest == end ? columns : 0;
}

std::string formatted_time(const char* format, WallTime moment) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(moment.time_since_epoch());
  const auto time = static_cast<std::time_t>(seconds.count());
  std::tm parts{};
  pmLocaltime(&time, &parts);
  std::array<char, 64> text{};
  std::strftime(text.data(), text.size(), format, &parts);
  return text.data();
}

}  // namespace

Terminal terminal_of(int descriptor) {
  Terminal terminal;
  terminal.is_utf8 = std::string_view(::nl_langinfo(CODESET)) == "UTF-8";
  const auto take_columns = [&](std::size_t columns) {
    terminal.columns = std::clamp(columns, kFewestColumns, kMostColumns);
  };
  const std::size_t wanted = wanted_columns();
  if (::isatty(descriptor) == 0) {
    take_columns(wanted != 0 ? wanted : kMostColumns);
    return terminal;
  }
  const char* const kind = std::getenv("TERM");
  const char* const no_color = std::getenv("NO_COLOR");
  terminal.has_colors = kind != nullptr && std::string_view(kind) != "dumb" &&
                        (no_color == nullptr || *no_color == '\0');
  winsize size{};
  if (wanted != 0)
    take_columns(wanted);
  else if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0)
    take_columns(size.ws_col);
  return terminal;
}

std::string Shown::duration(double seconds) const {
  struct Unit {
    double most_s;
    double length_s;
    std::string name;
  };
  const std::array units{Unit{999.5e-9, 1e-9, "ns"},  Unit{999.5e-6, 1e-6, sign("µs", "us")},
                         Unit{0.9995, 1e-3, "ms"},    Unit{999.5, 1, "s"},
                         Unit{99.95 * 60, 60, "min"}, Unit{99.95 * 3600, 3600, "h"},
                         Unit{1e300, 86'400, "d"}};
  if (seconds == 0) return "0 s";
  for (const Unit& unit : units) {
    const double size = seconds / unit.length_s;
    if (std::abs(seconds) >= unit.most_s) continue;
    if (std::abs(size) >= 999.5) return with_commas(size) + " " + unit.name;
    return three_digits(size) + " " + unit.name;
  }
  return nothing();
}

std::string Shown::count(double number) {
  return std::abs(number) < 999'999.5 ? with_commas(number) : in_millions(number);
}

std::string Shown::counted(std::uint64_t count, const std::string& what) {
  return with_commas(static_cast<double>(count)) + " " + what + (count == 1 ? "" : "s");
}

std::string Shown::missed(std::uint64_t spans, bool has_gap) {
  if (!has_gap) return (spans == 0 ? "none" : counted(spans, "span")) + " missed";
  return (spans == 0 ? "" : counted(spans, "span") + " and ") + "an unknown number missed";
}

std::string Shown::number(double number) {
  const double size = std::abs(number);
  if (number == 0) return "0";
  if (!std::isfinite(number)) return formatted("%f", number);
  if (size < 0.0001) return formatted("%.1e", number);
  if (size < 0.9995) return formatted("%.3g", number);
  if (size < 999'999.5 && (number == std::round(number) || size >= 999.5))
    return with_commas(number);
  if (size < 999.5) return three_digits(number);
  return in_millions(number);
}

std::string Shown::measured(double number) {
  const double size = std::abs(number);
  return size >= 0.9995 && size < 999.5 ? three_digits(number) : Shown::number(number);
}

bool Shown::has_changed(double before, double now) {
  constexpr double kLeast = 0.0005;  // changes are shown in tenths of a percent
  return before != now && std::abs(now - before) >= std::abs(before) * kLeast;
}

std::string Shown::change(double before, double now) const {
  if (!has_changed(before, now)) return sign("±0%", "0%");
  if (before == 0) return "new";
  const double percent = (now - before) / std::abs(before) * 100;
  if (percent >= 999.5) {
    const double times = now / before;
    return sign("×", "x") + (times < 999.5 ? formatted("%.0f", times) : ">999");
  }
  // Something is left, so it is not -100%.
  if (percent < -99 && now > 0) return formatted("%+.4g%%", std::max(percent, -99.99));
  return formatted(std::abs(percent) < 9.95 ? "%+.1f%%" : "%+.0f%%", percent);
}

std::string Shown::name(std::string_view text, std::size_t columns) const {
  const std::vector<Piece> pieces = pieces_of(text, terminal_.is_utf8);
  const std::size_t used = width_of(pieces);
  return used <= columns ? beginning_of(pieces, used)
                         : without_middle(pieces, columns, sign("…", ".."));
}

// Each round cuts the names that look alike before the first piece in which they differ.
std::vector<std::string> Shown::names(const std::vector<NameToCut>& names) const {
  const auto pieces = [&](std::size_t i) { return pieces_of(names[i].text, terminal_.is_utf8); };
  std::vector<std::string> shown;
  shown.reserve(names.size());
  for (const NameToCut& each : names) shown.push_back(name(each.text, each.columns));
  for (std::size_t looks = 0;;) {
    std::map<std::string, std::vector<std::size_t>> alike;
    for (std::size_t i = 0; i < shown.size(); ++i) alike[shown[i]].push_back(i);
    if (alike.size() <= looks) return shown;
    looks = alike.size();
    for (const auto& [look, members] : alike) {
      const std::size_t one = members.front();
      if (std::ranges::all_of(members, [&](auto i) { return names[i].text == names[one].text; }))
        continue;
      std::vector<std::vector<Piece>> whole;
      whole.reserve(members.size());
      std::ranges::transform(members, std::back_inserter(whole), pieces);
      std::size_t equal = whole.front().size();
      for (const auto& each : whole) equal = std::min(equal, equal_pieces(whole.front(), each));
      for (std::size_t i = 0; i < members.size(); ++i)
        if (const std::size_t columns = names[members[i]].columns; width_of(whole[i]) > columns)
          shown[members[i]] = cut_before(whole[i], equal, columns, sign("…", ".."));
    }
  }
}

std::string Shown::beginning(std::string_view text, std::size_t columns) const {
  const std::vector<Piece> pieces = pieces_of(text, terminal_.is_utf8);
  if (const std::size_t used = width_of(pieces); used <= columns) return beginning_of(pieces, used);
  const std::string mark = sign("…", "..");
  return beginning_of(pieces, room_after(columns, columns_of(mark))) + mark;
}

std::string Shown::right(std::string_view text, std::size_t columns) {
  const std::size_t used = columns_of(text);
  return std::string(room_after(columns, used), ' ').append(text);
}

std::string Shown::left(std::string_view text, std::size_t columns) {
  const std::size_t used = columns_of(text);
  return std::string(text).append(room_after(columns, used), ' ');
}

std::string Shown::date(WallTime moment) { return formatted_time("%-d %b %Y %H:%M:%S", moment); }
std::string Shown::time(WallTime moment) { return formatted_time("%H:%M:%S", moment); }

std::string Shown::marked(std::string_view code, std::string_view text) const {
  if (!terminal_.has_colors || text.empty()) return std::string(text);
  return std::string("\033[").append(code).append("m").append(text).append("\033[0m");
}

std::string shown_calls(const Tag& tag) {
  return Shown::counted(static_cast<std::uint64_t>(tag.calls), "call") + " of " +
         printed_name(tag.name);
}

const char* times_of(const Run& run) {
  if (!run.times_of) return "all";
  return *run.times_of == Ending::Failed ? "failed" : "completed";
}

std::string chosen_times(const Run& run) {
  return std::string("Times are of ") + times_of(run) + " calls only.";
}

std::vector<const Tag*> folded_tags(const Run& run) {
  std::vector<const Tag*> tags;
  for (const Tag& tag : run.folded)
    if (tag.is_folded) tags.push_back(&tag);
  return tags;
}

std::string no_room(const Run& run) {
  const double calls = run.without_room - run.unsplit;
  if (calls == 0)
    return "tags were too long for the labels of --split: make them shorter; or report --by name";
  return "the agent had no room for the tags or labels of " +
         Shown::counted(static_cast<std::uint64_t>(calls), "call") +
         (run.command.empty() ? ": raise its --max-tags" : ": use fewer values of labels") +
         "; or report --by name, unless (overflow) has calls";
}

std::string printed_name(std::string_view name) {
  return Shown(Terminal{true, false, 80}).name(name, std::numeric_limits<std::size_t>::max());
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    if (text.starts_with("\033[")) {
      text.remove_prefix(std::min(text.find('m') + 1, text.size()));
      continue;
    }
    const Utf8Character first = first_character(text);
    columns += width_of(first);
    text.remove_prefix(std::max<std::size_t>(first.bytes, 1));
  }
  return columns;
}

}  // namespace pcp::trace::command
