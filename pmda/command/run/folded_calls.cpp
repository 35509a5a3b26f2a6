// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/folded_calls.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/run/groups.hpp"
#include "wire/dimensions.hpp"
#include "wire/trace_type.hpp"

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

Tag sum_of(const std::vector<const Tag*>& tags) {
  std::vector<Tag> all;
  std::ranges::transform(tags, std::back_inserter(all), [](const Tag* tag) { return *tag; });
  const std::string_view name = bare_name(tags.front()->name);
  return group_tags(std::move(all), [&](const std::string&) { return std::string(name); })
      .tags.front();
}

}  // namespace

void take_folded(Totals& totals, const LabelChoice& choice) {
  std::map<std::string, std::size_t> most;  // labels, by name
  std::set<std::string> keys;               // of all names
  for (const Tag& tag : totals.tags) {
    const Dimensions labels = labels_of(tag);
    std::size_t& its = most[std::string(labels.name)];
    its = std::max(its, labels.labels.size());
    for (const Dimension& label : labels.labels) keys.emplace(label.key);
  }
  const auto may_lack_labels = [&](const Tag& tag) {
    const Dimensions labels = labels_of(tag);
    const std::size_t count = labels.labels.size();
    return (totals.run.may_have_folded && count < most[std::string(labels.name)]) ||
           (totals.run.may_have_unsplit && count < keys.size());
  };
  std::vector<Tag> found;
  for (Tag& tag : totals.tags) {
    tag.is_folded = (tag.name == kOverflowName || may_lack_labels(tag)) &&
                    all_calls(tag) + tag.vanished.value_or(0) > 0;
    if (tag.is_folded) found.push_back(tag);
  }
  const LabelChoice groups{.by = choice.by};
  totals.run.folded = group_tags(std::move(found), [&](const std::string& tag) {
                        return groups.group_of(tag);
                      }).tags;
}

void note_folded(Totals& totals, const LabelChoice& choice) {
  std::map<std::pair<TraceType, std::string>, std::vector<const Tag*>> by_name;
  for (const Tag& tag : totals.run.folded)
    by_name[{tag.type, std::string(bare_name(tag.name))}].push_back(&tag);
  std::map<std::vector<const Tag*>, std::shared_ptr<const Tag>> sums;
  for (Tag& tag : totals.tags) {
    if (tag.name == kOverflowName) continue;
    const Dimensions labels = labels_of(tag);
    const bool may_lack_some = choice.by && (!tag.is_folded || !choice.where.empty());
    std::vector<const Tag*> its;
    for (const Tag* const each : by_name[{tag.type, std::string(labels.name)}])
      if (has_more(labels, labels_of(*each)) || (may_lack_some && each->name == tag.name))
        its.push_back(each);
    std::ranges::copy(by_name[{tag.type, std::string(kOverflowName)}], std::back_inserter(its));
    // A group with all labels of the choice has the calls of all of its label sets.
    if (choice.by && labels.labels.size() == choice.by->size()) tag.is_folded = false;
    if (tag.is_folded && (totals.run.may_have_folded || !its.empty())) its.push_back(&tag);
    if (its.empty()) continue;
    std::shared_ptr<const Tag>& sum = sums[its];
    if (sum == nullptr) sum = std::make_shared<const Tag>(sum_of(its));
    tag.folded = sum;
  }
}

}  // namespace pcp::trace::command
