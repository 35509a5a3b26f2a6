// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/tag_registry.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "collector/engine/slice.hpp"
#include "wire/trace_type.hpp"

namespace pcp::trace::agent {

namespace {

bool by_number(const KnownInstance* a, const KnownInstance* b) { return a->instance < b->instance; }
bool by_absence(const KnownInstance* a, const KnownInstance* b) { return a->absent < b->absent; }

// Gives those that were absent for the shortest time, in the order of their numbers.
std::vector<const KnownInstance*> least_absent(const std::vector<KnownInstance>& known,
                                               std::size_t most) {
  std::vector<const KnownInstance*> kept;
  kept.reserve(known.size());
  for (const KnownInstance& each : known) kept.push_back(&each);
  std::sort(kept.begin(), kept.end(), by_number);
  if (kept.size() <= most) return kept;
  std::stable_sort(kept.begin(), kept.end(), by_absence);
  kept.resize(most);
  std::sort(kept.begin(), kept.end(), by_number);
  return kept;
}

}  // namespace

TagRegistry::TagRegistry(std::size_t max_tags, const std::vector<KnownInstance>& known)
    : max_names_(2 * max_tags), table_(max_names_), names_(max_size()) {
  tags_.reserve(max_size());
  for (const TraceType type : kTraceTypes) {
    add(type, kOverflowName);
    names_.claim(type, kOverflowName, kOverflowInstance);
  }
  for (const KnownInstance& each : known) {
    std::int32_t& highest = highest_[index_of(each.type)];
    highest = std::max(highest, each.instance);
  }
  for (const KnownInstance* each : least_absent(known, max_tags)) {
    const TagIndex index = find_or_add(each->type, each->tag);
    tags_[index].absent = each->absent + 1;
    number(index, each->instance);
  }
}

TagIndex TagRegistry::find_or_add_again(TraceType type, std::string_view name) {
  TagIndex index = 0;
  if (const auto found = table_.find(type, name)) {
    index = *found;
  } else if (!table_.full()) {
    index = add(type, table_.insert(type, name, static_cast<TagIndex>(size())));
  } else {
    return overflow_tag(type);
  }
  recent_.entry_of(type, name) = {tags_[index].name, type, index};
  return index;
}

TagIndex TagRegistry::add(TraceType type, std::string_view name) {
  Tag& tag = tags_.emplace_back();
  tag.type = type;
  tag.name = name;
  return static_cast<TagIndex>(size() - 1);
}

InstanceName TagRegistry::instance_name(TagIndex index) const {
  const Tag& tag = tags_[index];
  return {tag.instance, tag.suffixes, std::string(tag.name), tag.origin};
}

bool TagRegistry::note_values(TagIndex index) {
  Tag& tag = tags_[index];
  if (tag.instance == 0) {
    std::int32_t& highest = highest_[index_of(tag.type)];
    if (highest == std::numeric_limits<std::int32_t>::max()) return false;
    number(index, ++highest);
  }
  tag.absent = 0;
  return true;
}

void TagRegistry::number(TagIndex index, std::int32_t instance) {
  Tag& tag = tags_[index];
  tag.instance = instance;
  tag.suffixes = names_.claim(tag.type, tag.name, instance);
  numbered_.push_back(index);
}

bool TagRegistry::note_origin(TagIndex index, const std::shared_ptr<const Origin>& origin) {
  Tag& tag = tags_[index];
  if (tag.origins_differ || is_overflow(index)) return false;
  if (tag.origin == nullptr) {
    tag.origin = origin;
    return origin != nullptr;
  }
  if (origin != nullptr && (tag.origin == origin || tag.origin->labels == origin->labels))
    return false;
  tag.origins_differ = true;
  tag.origin = nullptr;
  return true;
}

std::size_t TagRegistry::known_instances(std::size_t from, std::size_t max,
                                         std::vector<KnownInstance>& out) const {
  const auto indexes = slice(numbered_, from, max);
  for (const TagIndex index : indexes) {
    const Tag& tag = tags_[index];
    out.push_back({tag.type, std::string(tag.name), tag.instance, tag.absent});
  }
  return indexes.size();
}

}  // namespace pcp::trace::agent
