// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/folded_calls.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "command/run/groups.hpp"
#include "wire/dimensions.hpp"
#include "wire/trace_type.hpp"

namespace pcp::trace::command {

namespace {

std::size_t labels_of(const std::string& tag) {
  return parse_dimensions(tag).value_or(Dimensions{}).labels.size();
}

std::string bare_of(const std::string& tag) { return std::string(bare_name(tag)); }

double all_that_began(const Tag& tag) { return tag.calls + tag.vanished.value_or(0); }

}  // namespace

void take_folded(Totals& totals, const TagNames& names, const LabelChoice& choice) {
  Run& run = totals.run;
  // The sum over all labels of a name needs none.
  if (choice.by && choice.by->empty() && !choice.leaves_out()) run.without_room = run.unsplit = 0;
  std::map<std::string, std::size_t> most;  // labels, by name
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::size_t& its = most[bare_of(names.name(i))];
    its = std::max(its, labels_of(names.name(i)));
  }
  for (Tag& tag : totals.tags) {
    if (run.may_have_overflowed && tag.name == kOverflowName)
      run.without_room += all_that_began(tag);
    tag.is_folded = run.may_have_folded && all_that_began(tag) > 0 &&
                    labels_of(tag.name) < most[bare_of(tag.name)];
  }
  if (std::ranges::none_of(totals.tags, &Tag::is_folded)) return;
  const LabelChoice groups{.by = choice.by};
  // A group with all labels of the choice has the calls of all of its label sets.
  const auto is_exact = [&](const std::string& tag) {
    return choice.by && !choice.leaves_out() &&
           labels_of(*groups.group_of(tag)) == choice.by->size();
  };
  std::vector<Tag> tags = totals.tags;
  std::erase_if(tags, [&](const Tag& tag) { return !tag.is_folded && is_exact(tag.name); });
  run.folded = group_tags(std::move(tags), [&](const std::string& tag) {
                 return choice.may_take_sets_of(bare_of(tag)) ? groups.group_of(tag) : std::nullopt;
               }).tags;
  std::erase_if(run.folded, [](const Tag& tag) { return !tag.is_folded; });
  for (std::vector<Tag>* const all : {&run.folded, &totals.tags})
    for (Tag& tag : *all) tag.is_folded &= !is_exact(tag.name);
}

void note_folded(Totals& totals) {
  std::vector<Tag> folded = totals.run.folded;
  std::erase_if(folded, [](const Tag& tag) { return !tag.is_folded; });
  std::map<std::pair<TraceType, std::string>, std::shared_ptr<const Tag>> sums;
  for (Tag& sum : group_by_name(std::move(folded)).tags)
    sums[{sum.type, sum.name}] = std::make_shared<const Tag>(sum);
  for (std::vector<Tag>* const tags : {&totals.run.folded, &totals.tags})
    for (Tag& tag : *tags) tag.folded = sums[{tag.type, bare_of(tag.name)}];
}

}  // namespace pcp::trace::command
