// SPDX-License-Identifier: LGPL-2.1-or-later
// A shell pattern: * any bytes, ? one byte, [abc] and [a-z] one of these, [!a-z] one byte not of
// these; after a backslash each is literal. Works on bytes: a UTF-8 letter may have several.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace pcp::trace {

class Glob {
 public:
  // The error is short advice, to follow the pattern and a colon.
  static Result<Glob> parse(std::string_view pattern);
  static Glob exactly(std::string_view text);

  // Allocates nothing. Takes at most text length times pattern length steps.
  bool matches(std::string_view text) const;

  // True if it may match a text that begins so.
  bool may_begin_with(std::string_view begin) const;

  bool matches_everything() const;

  // The canonical pattern, equal for equal globs: adjacent stars are one, sets are sorted, and only
  // necessary backslashes are kept (a quote has one, too).
  std::string text() const;

  bool operator==(const Glob&) const = default;

 private:
  enum class Kind : std::uint8_t { Byte, Any, Star, Set };
  struct Part {
    Kind kind;
    std::uint16_t value;  // the byte, or the number of the set
    bool operator==(const Part&) const = default;
  };
  using Set = std::bitset<256>;

  static std::string text_of(const Set& set);
  void add_set(const Set& set);
  bool takes(const Part& part, char c) const;

  std::vector<Part> parts_;
  std::vector<Set> sets_;
  std::size_t least_length_ = 0;  // of a text that matches
};

}  // namespace pcp::trace
