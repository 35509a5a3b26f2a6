// SPDX-License-Identifier: LGPL-2.1-or-later
// The tags that a condition is about: a pattern as in a shell, or an exact name in double quotes.
// Either may be followed by labels, {key=PATTERN,...}: then all label sets of the name with these
// labels match, whatever other labels they have.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "command/run/label_choice.hpp"
#include "wire/dimensions.hpp"
#include "wire/glob.hpp"

namespace pcp::trace::command {

class TagPattern {
 public:
  // Takes a pattern off the front of the text.
  static Result<TagPattern> take(std::string_view& rest);

  bool matches(const std::string& tag) const;

  bool has_labels() const { return !labels_.empty(); }
  bool matches_name(const std::string& bare_name) const { return name_.matches(bare_name); }
  // True if it matches the name, or may match it with some labels.
  bool may_match_sets_of(const std::string& name) const {
    return name_.matches(name) || whole_.may_begin_with(name + '{');
  }
  // True if it has all keys that the pattern names.
  bool has_keys(const Dimensions& labels) const;
  bool matches_labels(const Dimensions& labels) const;

  const std::string& text() const { return text_; }  // of the whole tag
  std::string keys() const;                          // "status, route"

 private:
  static Result<std::string> take_quoted(std::string_view& rest);
  Result<void> take_labels(std::string_view text);

  std::string text_;
  Glob whole_;
  Glob name_;  // without labels
  std::vector<WantedLabel> labels_;
};

}  // namespace pcp::trace::command
