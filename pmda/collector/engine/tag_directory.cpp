// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/tag_directory.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "wire/trace_type.hpp"

namespace pcp::trace::agent {

namespace {

bool by_number(const KnownInstance& a, const KnownInstance& b) {
  return std::tie(a.instance, a.type) < std::tie(b.instance, b.type);
}

// At equal absence, the greater number was given later and is kept longer.
bool by_absence(const KnownInstance& a, const KnownInstance& b) {
  return a.absent != b.absent ? a.absent < b.absent : a.instance > b.instance;
}

}  // namespace

void drop_repeated(std::vector<KnownInstance>& known) {
  std::sort(known.begin(), known.end(), [](const KnownInstance& a, const KnownInstance& b) {
    if (a.type != b.type) return a.type < b.type;
    const int order = a.tag.compare(b.tag);
    return order != 0 ? order < 0 : a.instance > b.instance;
  });
  const auto same_tag = [](const KnownInstance& a, const KnownInstance& b) {
    return a.type == b.type && a.tag == b.tag;
  };
  known.erase(std::unique(known.begin(), known.end(), same_tag), known.end());
}

std::vector<KnownInstance> least_absent(std::vector<KnownInstance> known, std::size_t most) {
  if (known.size() > most) {
    std::sort(known.begin(), known.end(), by_absence);
    known.resize(most);
  }
  std::sort(known.begin(), known.end(), by_number);
  return known;
}

TagDirectory::TagDirectory(const EngineOptions& options, const std::vector<KnownInstance>& known)
    : max_names_(std::size_t{2} * options.max_tags),
      max_bare_(options.room_for_bare_names()),
      table_(max_names_ + max_bare_),
      names_(max_size()) {
  tags_.reserve(max_size());
  for (const TraceType type : kTraceTypes) {
    Tag& tag = tags_.emplace_back();
    tag.type = type;
    tag.name = kOverflowName;
    names_.claim(type, kOverflowName, kOverflowInstance);
  }
  for (const KnownInstance& each : known) {
    std::int32_t& highest = highest_[index_of(each.type)];
    highest = std::max(highest, each.instance);
  }
  for (const KnownInstance& each : least_absent(known, options.most_tags())) {
    if (each.tag == kOverflowName) continue;  // from a version where this could be a usual tag
    const TagIndex index = find_or_add(each.type, each.tag);
    tags_[index].life = -std::int64_t{each.absent};
    number(index, each.instance);
  }
  numbered_.sort([this](TagIndex a, TagIndex b) { return tags_[a].life < tags_[b].life; });
  recent_.clear();  // else a look-up would skip use()
}

void TagDirectory::begin_life() {
  ++life_;
  recent_.clear();
}

TagIndex TagDirectory::find_or_add_again(TraceType type, std::string_view name) {
  if (name == kOverflowName) return overflow_tag(type);
  if (const auto found = find_or_add(type, name, max_names_)) {
    recent_.entry_of(type, name) = {tags_[*found].name, type, *found};
    return *found;
  }
  const std::string_view bare = bare_name(name);
  if (bare.size() == name.size()) return folded(overflow_tag(type));
  return find_or_add_folded(type, bare);
}

TagIndex TagDirectory::find_or_add_bare(TraceType type, std::string_view name) {
  if (name == kOverflowName) return overflow_tag(type);
  return find_or_add(type, name, max_names_ + max_bare_).value_or(overflow_tag(type));
}

std::optional<TagIndex> TagDirectory::find_or_add(TraceType type, std::string_view name,
                                                  std::size_t max_names) {
  if (const auto found = table_.find(type, name)) {
    use(*found);
    return found;
  }
  const auto index = index_for_new(max_names);
  if (!index) return std::nullopt;
  Tag& tag = tags_[*index];
  tag.type = type;
  tag.name = table_.insert(type, name, *index);
  tag.life = life_;
  return index;
}

std::optional<TagIndex> TagDirectory::index_for_new(std::size_t max_names) {
  if (table_.size() < max_names) return add_index();
  for (const Order* const order : {&unnumbered_, &numbered_}) {
    if (order->empty() || tags_[order->front()].life == life_) continue;
    const TagIndex index = order->front();
    forget(index);
    return index;
  }
  return std::nullopt;
}

TagIndex TagDirectory::add_index() {
  const auto index = static_cast<TagIndex>(size());
  tags_.emplace_back().use = unnumbered_.insert(unnumbered_.end(), index);
  return index;
}

void TagDirectory::forget(TagIndex index) {
  Tag& tag = tags_[index];
  Order& order = tag.instance == 0 ? unnumbered_ : numbered_;
  unnumbered_.splice(unnumbered_.end(), order, tag.use);
  if (tag.instance != 0) names_.release(tag.type, tag.name, tag.instance, tag.suffixes);
  table_.erase(tag.type, tag.name);
  descriptions_.erase(index);
  const auto use = tag.use;
  tag = {};
  tag.use = use;
}

void TagDirectory::use(TagIndex index) {
  Tag& tag = tags_[index];
  if (tag.life == life_) return;
  tag.life = life_;
  tag.origin = nullptr;
  tag.origins_differ = false;
  tag.is_described = false;
  Order& order = tag.instance == 0 ? unnumbered_ : numbered_;
  order.splice(order.end(), order, tag.use);
}

InstanceName TagDirectory::instance_name(TagIndex index) const {
  const Tag& tag = tags_[index];
  InstanceName name{tag.instance, tag.suffixes,    std::string(tag.name),
                    tag.origin,   tag.labels_kept, nullptr};
  if (tag.is_described) name.description = descriptions_.at(index).labels;
  return name;
}

bool TagDirectory::note_values(TagIndex index) {
  Tag& tag = tags_[index];
  if (tag.instance == 0) {
    std::int32_t& highest = highest_[index_of(tag.type)];
    if (highest == std::numeric_limits<std::int32_t>::max()) return false;
    number(index, ++highest);
  }
  use(index);
  return true;
}

void TagDirectory::number(TagIndex index, std::int32_t instance) {
  Tag& tag = tags_[index];
  tag.instance = instance;
  tag.suffixes = names_.claim(tag.type, tag.name, instance);
  numbered_.splice(numbered_.end(), unnumbered_, tag.use);
}

bool TagDirectory::note_origin(TagIndex index, const std::shared_ptr<const Origin>& origin) {
  Tag& tag = tags_[index];
  if (tag.origins_differ || is_overflow(index)) return false;
  if (origin == nullptr) {  // an unknown program has no labels
    tag.origins_differ = tag.origins_differ || tag.origin == nullptr;
    return keep_labels(tag, 0);
  }
  if (tag.origin == nullptr) {
    tag.origin = origin;
    tag.labels_kept = origin->labels.all();
    return true;
  }
  if (tag.origin == origin || tag.origin->labels == origin->labels) return false;
  return keep_labels(tag, tag.origin->labels.in_common_with(origin->labels));
}

TagDirectory::Described TagDirectory::describe(TagIndex index,
                                               std::shared_ptr<const LabelText>& description) {
  Tag& tag = tags_[index];
  if (is_overflow(index)) return Described::Again;
  if (!tag.is_described) {
    descriptions_[index] = {description};
    tag.is_described = true;
    return Described::First;
  }
  Description& known = descriptions_.at(index);
  if (*known.labels == *description) {
    description = known.labels;
    return Described::Again;
  }
  return std::exchange(known.others_differ, true) ? Described::Again : Described::Otherwise;
}

bool TagDirectory::note_origin_of(TagIndex index, TagIndex other) {
  const Tag& from = tags_[other];
  Tag& tag = tags_[index];
  if (is_overflow(index)) return false;
  if (from.origin == nullptr) return from.origins_differ && keep_labels(tag, 0);
  const bool changed = note_origin(index, from.origin);
  if (tag.origin == nullptr) return changed;
  const LabelText kept = from.origin->labels.part(from.labels_kept);
  return keep_labels(tag, tag.origin->labels.in_common_with(kept)) || changed;
}

bool TagDirectory::keep_labels(Tag& tag, LabelText::Set set) {
  const LabelText::Set before = std::exchange(tag.labels_kept, tag.labels_kept & set);
  if (tag.origin == nullptr || tag.labels_kept == before) return false;
  if (tag.labels_kept == 0) {
    tag.origins_differ = true;
    tag.origin = nullptr;
  }
  return true;
}

void TagDirectory::begin_numbers_after(const Numbers& reserved) {
  for (std::size_t i = 0; i < highest_.size(); ++i)
    highest_[i] = std::max(highest_[i], reserved[i]);
}

std::size_t TagDirectory::known_instances(std::size_t from, std::size_t max,
                                          std::vector<KnownInstance>& out) const {
  // The first tags are those of kOverflowName, which have no numbers.
  const auto looked_at = slice(tags_, kTraceTypes.size() + from, max);
  for (const Tag& tag : looked_at) {
    if (tag.instance == 0) continue;
    const std::int64_t absent =
        std::min<std::int64_t>(life_ - tag.life, std::numeric_limits<std::uint32_t>::max());
    out.push_back(
        {tag.type, std::string(tag.name), tag.instance, static_cast<std::uint32_t>(absent)});
  }
  return looked_at.size();
}

}  // namespace pcp::trace::agent
