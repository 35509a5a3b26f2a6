// SPDX-License-Identifier: LGPL-2.1-or-later
// The tags that a condition is about: a pattern as in a shell, or an exact name in double quotes.
// Either may be followed by labels, {key=PATTERN,...}: then all label sets of the name with these
// labels match, whatever other labels they have.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "wire/dimensions.hpp"

namespace pcp::trace::command {

class TagPattern {
 public:
  // Takes a pattern off the front of the text.
  static Result<TagPattern> take(std::string_view& rest);

  bool matches(const std::string& tag) const;

  // True if it does not match the tag, but perhaps one whose calls count there for want of room:
  // the tag with more labels, or any for (overflow).
  bool may_match_without_room(const std::string& tag) const;

  bool has_labels() const { return !labels_.empty(); }
  bool matches_name(const std::string& bare_name) const;
  // True if it has all keys that the pattern names.
  bool has_keys(const Dimensions& labels) const;
  bool matches_labels(const Dimensions& labels) const;

  const std::string& text() const { return text_; }  // of the whole tag
  std::string keys() const;                          // "status, route"

 private:
  Result<void> take_quoted(std::string_view& rest);
  bool take_labels(std::string_view text);

  std::string text_;
  std::string name_;
  bool is_glob_ = false;
  std::vector<std::pair<std::string, std::string>> labels_;  // key, pattern of the value
};

}  // namespace pcp::trace::command
