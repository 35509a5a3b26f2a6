// SPDX-License-Identifier: LGPL-2.1-or-later
// The choice of tags for a report by their labels and names: --by, --where and --filter.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "wire/glob.hpp"

namespace pcp::trace::command {

// A label that a tag must have, with a value that matches.
struct WantedLabel {
  std::string key;
  Glob value;
};

struct LabelChoice {
  // Tags of one name with the same values of these labels are added up. Empty: all tags of one
  // name. Nothing: no tags are added up.
  std::optional<std::vector<std::string>> by{};
  std::vector<WantedLabel> where{};  // all of them
  std::optional<Glob> names{};       // of the whole tag, or of its name without labels

  // The keys of `by` and `where`. An archive may have these labels beside a tag's own ones.
  std::vector<std::string> keys() const;

  // The tag that this one is a part of: itself if no tags are added up. Nothing: left out.
  std::optional<std::string> group_of(const std::string& tag) const;

  // True if it may take a tag with this name and some labels.
  bool may_take_sets_of(const std::string& name) const;

  bool leaves_out() const { return !where.empty() || names; }
  std::string options_that_leave_out() const;  // "--where and --filter"; empty: none
  bool changes_tags() const { return by || leaves_out(); }
};

// Parse the options' arguments: "LABEL,LABEL" or "name"; "LABEL=GLOB,LABEL=GLOB".
Result<std::vector<std::string>> parse_by(const std::string& text);
Result<std::vector<WantedLabel>> parse_where(const std::string& text);

}  // namespace pcp::trace::command
