// SPDX-License-Identifier: LGPL-2.1-or-later
// Tags as text: the tables that the user wants to see, the same in JSON, and all about one tag.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "command/show/summary_table.hpp"
#include "command/top/recent_tags.hpp"
#include "wire/glob.hpp"

namespace pcp::trace::command {

inline constexpr std::size_t kAllTags = std::numeric_limits<std::size_t>::max();

struct TagChoice {
  std::string text{};  // of the pattern
  std::optional<Glob> pattern{};
  Figure sort = Figure::Total;  // the greatest first; then by rate
  std::size_t most = kAllTags;  // of each table

  // Takes a pattern as in a shell, or a part of names. Empty: no pattern. An error changes nothing
  // but the text.
  Result<void> set_pattern(const std::string& typed);

  bool has(const Tag& tag) const { return !pattern || pattern->matches(tag.name); }
};

TablesOf<Tag> chosen_tags(const std::vector<Tag>& tags, const TagChoice& choice);

// Says that there are tags, but none that the pattern matches; else empty.
std::string no_match(const std::vector<Tag>& tags, const TagChoice& choice);

// "last 2.00 s; percentiles and max: last 60.0 s".
std::string covered_time(const Recent& recent, const Shown& shown);

// All tables; the same as a line of JSON.
std::string recent_text(const Recent& recent, const TagChoice& choice, const Shown& shown);
std::string recent_json(const Recent& recent, const TagChoice& choice);

// All about a tag, without its spans. `tag`: null if it has no values now.
std::vector<std::string> detail_lines(const TagKey& key, const Tag* tag,
                                      const std::vector<TagDetail>& details, const Shown& shown);

}  // namespace pcp::trace::command
