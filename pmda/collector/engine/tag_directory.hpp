// SPDX-License-Identifier: LGPL-2.1-or-later
// The data of a tag that survives resets: its index, its instance's number and shown name, and its
// origin. Numbers come from earlier lives of the agent, or follow the highest of those.
//
// A reset begins a life of the directory. Without room, a new tag takes the index of a tag unused
// in this life: first of one without a number, then of the one absent longest. A tag that loses its
// index starts afresh when it returns.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "collector/engine/instance_names.hpp"
#include "collector/engine/tag_table.hpp"
#include "collector/engine/types.hpp"
#include "wire/dimensions.hpp"

namespace pcp::trace::agent {

// Up to `max` elements of a vector, from index `from` on.
template <typename Element>
std::span<const Element> slice(const std::vector<Element>& all, std::size_t from, std::size_t max) {
  const std::span<const Element> rest = std::span(all).subspan(std::min(from, all.size()));
  return rest.first(std::min(max, rest.size()));
}

// Keeps only the greatest number of each tag. A list that is made in slices may have a tag twice.
void drop_repeated(std::vector<KnownInstance>& known);

// Gives the instances that were absent for the shortest time, ordered by number.
std::vector<KnownInstance> least_absent(std::vector<KnownInstance> known, std::size_t most);

class TagDirectory {
 public:
  // There is room for twice as many names as tags with values: half for names known from earlier
  // lives, half for new ones. A few bare names have additional room.
  TagDirectory(const EngineOptions& options, const std::vector<KnownInstance>& known);

  // The index is valid until the next life. Without room a tag gets folded(): a tag with labels
  // that of its bare name, any other tag that of the type's overflow_tag().
  TagIndex find_or_add(TraceType type, std::string_view name) {
    const RecentTags::Entry& recent = recent_.entry_of(type, name);
    return recent.is(type, name) ? recent.tag : find_or_add_again(type, name);
  }

  // The first four tags are those of kOverflowName. They also have the calls of a program's own tag
  // of this name, which gets their index without folded().
  static TagIndex overflow_tag(TraceType type) { return static_cast<TagIndex>(index_of(type)); }
  static bool is_overflow(TagIndex index) { return index < kTraceTypes.size(); }

  // The tag of the name without labels; the tag itself if it has none.
  TagIndex find_or_add_bare(TagIndex index) {
    return find_or_add_bare(tags_[index].type, bare_name(tags_[index].name));
  }

  // The index of a bare name or overflow_tag(), marked because it stands for tags with labels.
  TagIndex find_or_add_folded(TraceType type, std::string_view bare) {
    return folded(find_or_add_bare(type, bare));
  }

  // Marks an index that stands for a tag without room.
  static constexpr TagIndex folded(TagIndex bare) { return bare | kFolded; }
  static constexpr bool is_folded(TagIndex index) { return (index & kFolded) != 0; }
  static constexpr TagIndex without_mark(TagIndex index) { return index & ~kFolded; }

  // From now on unused tags may lose their indexes.
  void begin_life();
  std::int64_t life() const { return life_; }  // from 1 on

  // The number of tags now, and its limit.
  std::size_t size() const { return tags_.size(); }
  std::size_t max_size() const { return kTraceTypes.size() + max_names_ + max_bare_; }

  TraceType type(TagIndex index) const { return tags_[index].type; }
  std::int32_t instance(TagIndex index) const { return tags_[index].instance; }
  InstanceName instance_name(TagIndex index) const;

  // Notes that a tag has values in this life, and gives it a number if it has none. False if no
  // number is left.
  bool note_values(TagIndex index);

  // Keeps those labels of the first origin in a life that all later origins have as well. False if
  // nothing changes.
  bool note_origin(TagIndex index, const std::shared_ptr<const Origin>& origin);

  // The first description in a life stays. Equal ones share its memory. Only the first different
  // one is reported (Otherwise).
  enum class Described { First, Again, Otherwise };
  Described describe(TagIndex index, std::shared_ptr<const LabelText>& description);

  // The calls of `other` go to `index` from now on, so only their common labels are kept.
  bool note_origin_of(TagIndex index, TagIndex other);

  // Treats all numbers up to these as given.
  void begin_numbers_after(const Numbers& reserved);
  const Numbers& highest_numbers() const { return highest_; }

  std::size_t known_instances(std::size_t from, std::size_t max,
                              std::vector<KnownInstance>& out) const;

 private:
  using Order = std::list<TagIndex>;

  struct Tag {
    TraceType type{};
    NameSuffixes suffixes = 0;
    bool origins_differ = false;
    bool is_described = false;  // in descriptions_
    std::int32_t instance = 0;  // 0: none yet, or "(overflow)"
    std::int64_t life = 0;      // life of its last use; 0 and below: before this agent started
    std::string_view name;
    std::shared_ptr<const Origin> origin;
    LabelText::Set labels_kept = 0;  // of the origin's labels
    Order::iterator use{};           // in numbered_ or unnumbered_; unused for "(overflow)"
  };
  static constexpr TagIndex kFolded = TagIndex{1} << 31;

  TagIndex find_or_add_again(TraceType type, std::string_view name);
  TagIndex find_or_add_bare(TraceType type, std::string_view name);
  std::optional<TagIndex> find_or_add(TraceType type, std::string_view name, std::size_t max_names);
  std::optional<TagIndex> index_for_new(std::size_t max_names);
  bool keep_labels(Tag& tag, LabelText::Set set);
  TagIndex add_index();
  void forget(TagIndex index);
  void use(TagIndex index);
  void number(TagIndex index, std::int32_t instance);

  std::size_t max_names_;
  std::size_t max_bare_;
  TagTable table_;
  RecentTags recent_;
  InstanceNames names_;
  std::vector<Tag> tags_;
  // A map, because few tags have a description, and a map never has to rehash.
  struct Description {
    std::shared_ptr<const LabelText> labels;
    bool others_differ = false;
  };
  std::map<TagIndex, Description> descriptions_;  // of this life, or still of an earlier one
  Order numbered_;    // tags with a number, in the order of their last use
  Order unnumbered_;  // the other tags
  std::int64_t life_ = 1;
  Numbers highest_{};  // the highest number of each type
};

}  // namespace pcp::trace::agent
