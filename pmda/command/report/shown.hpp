// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers, times and names as people read them in a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "command/model/model.hpp"

namespace pcp::trace::command {

// What the terminal can show, and how wide it is.
struct Terminal {
  bool is_utf8 = false;
  bool has_colors = false;
  std::size_t columns = 80;
};

// Where this descriptor leads to, as the locale and the environment have it. Requires: setlocale()
// was called.
// COLUMNS says how wide it is to be, in any case. With fewer columns than the fewest lines wrap.
Terminal terminal_of(int descriptor, std::size_t fewest_columns = 80);

class Shown {
 public:
  explicit Shown(const Terminal& terminal) : terminal_(terminal) {}

  const Terminal& terminal() const { return terminal_; }

  // Three digits and a unit: "1.20 ms".
  std::string duration(double seconds) const;

  // "12,345"; from a million on "1.23 M".
  static std::string count(double number);

  // "1 span", "12,345 spans".
  static std::string counted(std::uint64_t count, const std::string& what);

  // "none missed", "17 spans missed", "an unknown number missed", or both. A gap: nobody knows what
  // was missed in it.
  static std::string missed(std::uint64_t spans, bool has_gap);

  // Three digits: "0.00123", "45.6", "1.23 M", "4.56e-07".
  static std::string number(double number);

  // The same, of what is measured: "10.0", although it is just ten.
  static std::string measured(double number);

  // "+12%", "-3.4%", "x10": how much more the second is.
  std::string change(double before, double now) const;
  // Whether one sees it there.
  static bool has_changed(double before, double now);

  // A program's text, cut to so many columns; what could harm a terminal is shown as \xNN.
  std::string name(std::string_view text, std::size_t columns) const;

  // The same, but cut at its end. A backslash of the text begins an escape, which stays whole.
  std::string beginning(std::string_view text, std::size_t columns) const;

  std::string nothing() const { return sign("–", "-"); }
  std::string at_least() const { return sign("≥", ">"); }
  std::string at_most() const { return sign("≤", "<"); }
  std::string sign(std::string_view utf8, std::string_view ascii) const {
    return std::string(terminal_.is_utf8 ? utf8 : ascii);
  }

  // With blanks on its left or right, so that it fills so many columns.
  static std::string right(std::string_view text, std::size_t columns);
  static std::string left(std::string_view text, std::size_t columns);

  // Without the blanks at its end.
  static std::string trimmed(const std::string& line) {
    return line.substr(0, line.find_last_not_of(' ') + 1);
  }

  // In bold or faint letters, where there are colours.
  std::string bold(std::string_view text) const { return marked("1", text); }
  std::string faint(std::string_view text) const { return marked("2", text); }
  std::string good(std::string_view text) const { return marked("32", text); }
  std::string bad(std::string_view text) const { return marked("31", text); }

  // "22 Nov 2026 16:33:08", and only the time; in PCP's time zone.
  static std::string date(Moment moment);
  static std::string time(Moment moment);

 private:
  std::string marked(std::string_view code, std::string_view text) const;

  Terminal terminal_;
};

// How many columns a text takes that is fit to be shown.
std::size_t columns_of(std::string_view text);

}  // namespace pcp::trace::command
