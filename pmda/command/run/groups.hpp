// SPDX-License-Identifier: LGPL-2.1-or-later
// Adds up tags: all label sets of a name, or those with the same values of some labels. Sums are
// exact, distributions are combined. Values that cannot be added up become unknown.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "command/run/model.hpp"

namespace pcp::trace::command {

// For each group the indices of the given tags, ascending.
using Members = std::vector<std::vector<std::size_t>>;

struct Groups {
  std::vector<Tag> tags;  // in model order
  Members members;
};

// `group_of` gives the name of a tag's group; nothing: the tag is left out. Types stay apart.
// `if_not`: why percentiles without distributions cannot be combined.
Groups group_tags(std::vector<Tag> tags,
                  const std::function<std::optional<std::string>(const std::string&)>& group_of,
                  PercentileSource if_not = PercentileSource::SeveralTags);

// All label sets of a name.
Groups group_by_name(std::vector<Tag> tags);

// One way to add up the tags of a report: by a label, or all label sets of a name (no label).
struct Grouping {
  std::optional<std::string> label;
  Groups groups;
};

// By name, and by each of the most frequent labels. None if no name has several label sets.
std::vector<Grouping> groupings_of(const std::vector<Tag>& tags);

// Adds a tag's failed calls to its completed ones.
Tag with_failed(Tag completed, Tag failed);

// True if the tag has no calls, but tags with more labels have: transactions may have begun as this
// tag, and ended with more labels. An archive does not say so.
bool may_have_got_labels(const Tag& tag, const std::vector<Tag>& tags);

// The tag without its calls: it has none, or (not `is_known`) nothing is known of any.
Tag without_calls(const Tag& tag, bool is_known = true);

// The same tag with the values of these calls only. All its calls are still counted.
Tag with_times_of(Tag tag, Ending ending);

// Sets the mean. It is unknown if the number of finite values is.
void find_mean(Tag& tag);

// Model order: most known total time, most calls, name.
bool is_before(const Tag& one, const Tag& other);

// A quantile from the distribution, within the tag's extremes. Requires: there is a distribution.
double quantile_in(const Tag& tag, double quantile);

// Sets the percentiles in the same way.
void take_percentiles(Tag& tag);

}  // namespace pcp::trace::command
