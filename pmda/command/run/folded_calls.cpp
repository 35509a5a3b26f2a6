// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/folded_calls.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "command/run/groups.hpp"
#include "wire/dimensions.hpp"

namespace pcp::trace::command {

namespace {

Dimensions labels_of(const Tag& tag) {
  return parse_dimensions(tag.name).value_or(Dimensions{tag.name, {}});
}

// True if `labels` has these labels, and more.
bool has_more(const Dimensions& labels, const Dimensions& fewer) {
  return labels.labels.size() > fewer.labels.size() &&
         std::ranges::all_of(fewer.labels, [&](const Dimension& label) {
           const std::string* const value = labels.find(label.key);
           return value != nullptr && *value == label.value;
         });
}

}  // namespace

void take_folded(Totals& totals, const LabelChoice& choice) {
  if (!totals.run.may_have_folded) return;
  std::map<std::string, std::size_t> most;  // labels, by name
  for (const Tag& tag : totals.tags) {
    const Dimensions labels = labels_of(tag);
    std::size_t& its = most[std::string(labels.name)];
    its = std::max(its, labels.labels.size());
  }
  std::vector<Tag> found;
  for (const Tag& tag : totals.tags)
    if (const Dimensions labels = labels_of(tag);
        labels.labels.size() < most[std::string(labels.name)] &&
        all_calls(tag) + tag.vanished.value_or(0) > 0)
      found.push_back(tag);
  const LabelChoice groups{.by = choice.by};
  totals.run.folded = group_tags(std::move(found), [&](const std::string& tag) {
                        return groups.group_of(tag);
                      }).tags;
}

void note_folded(Totals& totals) {
  std::map<std::pair<TraceType, std::string>, std::vector<const Tag*>> by_name;
  for (const Tag& tag : totals.run.folded)
    by_name[{tag.type, std::string(bare_name(tag.name))}].push_back(&tag);
  for (Tag& tag : totals.tags) {
    const Dimensions labels = labels_of(tag);
    std::vector<Tag> its;
    for (const Tag* const each : by_name[{tag.type, std::string(labels.name)}])
      if (has_more(labels, labels_of(*each))) its.push_back(*each);
    if (!its.empty())
      tag.folded =
          std::make_shared<const Tag>(std::move(group_by_name(std::move(its)).tags.front()));
  }
}

}  // namespace pcp::trace::command
