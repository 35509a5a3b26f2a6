// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers, times and names for people at a terminal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "command/run/model.hpp"

namespace pcp::trace::command {

// The abilities and the width of a terminal.
struct Terminal {
  bool is_utf8 = false;
  bool has_colors = false;
  std::size_t columns = 80;
};

// The terminal behind a descriptor, by locale and environment. Requires: setlocale() was called. A
// valid COLUMNS always sets the width.
Terminal terminal_of(int descriptor);

// A name, and the width that a table has for it.
struct NameToCut {
  std::string_view text;
  std::size_t columns;
};

class Shown {
 public:
  explicit Shown(const Terminal& terminal) : terminal_(terminal) {}

  const Terminal& terminal() const { return terminal_; }

  // Three digits and a unit: "1.20 ms".
  std::string duration(double seconds) const;

  // "12,345"; from a million on "1.23 M".
  static std::string count(double number);

  // "1 span", "1,234,567 spans".
  static std::string counted(std::uint64_t count, const std::string& what);

  // "none missed", "17 spans missed", "an unknown number missed", or both. A gap means an unknown
  // number.
  static std::string missed(std::uint64_t spans, bool has_gap);

  // Three digits: "0.00123", "45.6", "1.23 M", "4.56e-07".
  static std::string number(double number);

  // A tag's value: the duration of a transaction, or a number.
  std::string value(TraceType type, double value) const {
    return type == TraceType::Transact ? duration(value) : number(value);
  }
  // A number for measured values: "10.0" even for exactly ten.
  static std::string measured(double number);

  // "+12%", "-3.4%", "x10": the relative change.
  std::string change(double before, double now) const;
  // True if change() shows a difference.
  static bool has_changed(double before, double now);

  // A program's text, cut to `columns`; bytes that could harm a terminal are shown as \xNN.
  std::string name(std::string_view text, std::size_t columns) const;

  // The names of a table: those that differ look different after the cut, too.
  std::vector<std::string> names(const std::vector<NameToCut>& names) const;

  // The same as name(), cut at the end. An escape (a backslash and the next character) is never
  // split.
  std::string beginning(std::string_view text, std::size_t columns) const;

  std::string nothing() const { return sign("–", "-"); }
  std::string at_least() const { return sign("≥", ">"); }
  std::string sign(std::string_view utf8, std::string_view ascii) const {
    return std::string(terminal_.is_utf8 ? utf8 : ascii);
  }

  // Pads with blanks on the left or right.
  static std::string right(std::string_view text, std::size_t columns);
  static std::string left(std::string_view text, std::size_t columns);

  // Removes blanks at the end.
  static std::string trimmed(const std::string& line) {
    return line.substr(0, line.find_last_not_of(' ') + 1);
  }

  // Bold or faint or coloured, if the terminal has colours.
  std::string bold(std::string_view text) const { return marked("1", text); }
  std::string faint(std::string_view text) const { return marked("2", text); }
  std::string good(std::string_view text) const { return marked("32", text); }
  std::string bad(std::string_view text) const { return marked("31", text); }

  // "22 Nov 2026 16:33:08", or only the time, in PCP's time zone.
  static std::string date(WallTime moment);
  static std::string time(WallTime moment);

 private:
  std::string marked(std::string_view code, std::string_view text) const;

  Terminal terminal_;
};

// "12 calls of checkout", with those that failed.
std::string shown_calls(const Tag& tag);

// The calls whose times the report shows: "all", "completed" or "failed".
const char* times_of(const Run& run);

// The same as a sentence. Requires: not all.
std::string chosen_times(const Run& run);

// The tags of Run::folded whose calls may be of other tags of the report.
std::vector<const Tag*> folded_tags(const Run& run);

// Why nothing is known of any condition. Requires: Run::without_room.
std::string no_room(const Run& run);

// A whole name for a line of a log: without anything that a terminal interprets.
std::string printed_name(std::string_view name);

std::vector<std::string> lines_of(const std::string& text);

// The width of a text that is fit to be shown.
std::size_t columns_of(std::string_view text);

// How many of the columns are left; none if more than all are used.
constexpr std::size_t room_after(std::size_t columns, std::size_t used) {
  return columns - std::min(columns, used);
}

}  // namespace pcp::trace::command
