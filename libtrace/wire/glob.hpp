// SPDX-License-Identifier: LGPL-2.1-or-later
// A pattern for a text, as shells have it: * any bytes, ? one byte, [abc] and [a-z] one of these,
// [!a-z] one that is none of these; after a backslash each is itself. Bytes, not letters: that
// of UTF-8 have several.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/result.hpp"

namespace pcp::trace {

class Glob {
 public:
  // The error says what would be right, in a few words that may follow the pattern and a colon.
  static Result<Glob> parse(std::string_view pattern);

  // Allocates nothing. Takes at most as many steps as the text's length times the pattern's,
  // whatever stars it has.
  bool matches(std::string_view text) const;

  bool matches_everything() const;

  // The pattern in its one form, which two equal globs share: stars that follow each other are one,
  // sets are sorted, backslashes are only where they have to be (a quote has one, too).
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
