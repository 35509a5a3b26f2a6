// SPDX-License-Identifier: LGPL-2.1-or-later
// What stays with a tag through resets: its index, its instance's number and shown name, and who
// sends it. Numbers come from earlier lives of the agent, or follow the highest of those.
//
// A reset begins a life of the registry. Where there is no room, a new tag takes the index of one
// that nobody has used in this life: first of those without a number, then of the one that has been
// absent for longest. What has gone so begins afresh when it comes back.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "collector/engine/instance_names.hpp"
#include "collector/engine/recent_tags.hpp"
#include "collector/engine/tag_table.hpp"
#include "collector/engine/types.hpp"
#include "wire/dimensions.hpp"

namespace pcp::trace::agent {

// Gives those that were absent for the shortest time, in the order of their numbers.
std::vector<KnownInstance> least_absent(std::vector<KnownInstance> known, std::size_t most);

class TagRegistry {
 public:
  // Room is for twice as many names as there may be tags with values: half of them may be known
  // from earlier lives, and the other half is for new ones. A few bare names have room beyond.
  TagRegistry(const EngineOptions& options, const std::vector<KnownInstance>& known);

  // The index is this tag's until the next life. If there is no room a tag with labels gets
  // folded(), any other the type's overflow_tag().
  TagIndex find_or_add(TraceType type, std::string_view name) {
    const RecentTags::Entry& recent = recent_.entry_of(type, name);
    return recent.is(type, name) ? recent.tag : find_or_add_again(type, name);
  }

  // The first four tags are those of kOverflowName.
  static TagIndex overflow_tag(TraceType type) { return static_cast<TagIndex>(index_of(type)); }
  static bool is_overflow(TagIndex index) { return index < kTraceTypes.size(); }

  // That of the name before the labels, which is the tag itself if it has none.
  TagIndex find_or_add_bare(TagIndex index) {
    return find_or_add_bare(tags_[index].type, bare_name(tags_[index].name));
  }

  // The index of a bare name, marked since it stands for tags with labels; or the overflow_tag().
  TagIndex find_or_add_folded(TraceType type, std::string_view bare) {
    const TagIndex index = find_or_add_bare(type, bare);
    return is_overflow(index) ? index : folded(index);
  }

  // Marks the index of a bare name that stands for a tag with labels.
  static constexpr TagIndex folded(TagIndex bare) { return bare | kFolded; }
  static constexpr bool is_folded(TagIndex index) { return (index & kFolded) != 0; }
  static constexpr TagIndex without_mark(TagIndex index) { return index & ~kFolded; }

  // From here on unused tags may lose their indexes.
  void begin_life();
  std::int64_t life() const { return life_; }  // from 1 on

  // Tags so far, and at most ever.
  std::size_t size() const { return tags_.size(); }
  std::size_t max_size() const { return kTraceTypes.size() + max_names_ + max_bare_; }

  TraceType type(TagIndex index) const { return tags_[index].type; }
  std::int32_t instance(TagIndex index) const { return tags_[index].instance; }
  InstanceName instance_name(TagIndex index) const;

  // Notes that a tag has values in this life of the agent, and gives it a number if it has none.
  // False if all numbers are taken.
  bool note_values(TagIndex index);

  // Of the first origin in a life those labels are kept that all later ones have as well. False if
  // that changes nothing.
  bool note_origin(TagIndex index, const std::shared_ptr<const Origin>& origin);

  // The first description in a life stays. Equal ones become that one; of others one is told.
  enum class Described { First, Again, Otherwise };
  Described describe(TagIndex index, std::shared_ptr<const LabelText>& description);

  // The calls of one tag go to another from here on, so that is all that they have in common.
  bool note_origin_of(TagIndex index, TagIndex other);

  // Gives no number up to these.
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
    std::int64_t life = 0;      // when it was last used: 0 and below in those before this agent
    std::string_view name;
    std::shared_ptr<const Origin> origin;
    LabelText::Set labels_kept = 0;  // of the origin's
    Order::iterator use{};           // in numbered_ or unnumbered_; not of "(overflow)"
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
  // Few tags have one, and a map never has to grow as a whole.
  struct Description {
    std::shared_ptr<const LabelText> labels;
    bool others_differ = false;
  };
  std::map<TagIndex, Description> descriptions_;  // of this life or, until then, an earlier one
  Order numbered_;    // those with a number, in the order of their last use
  Order unnumbered_;  // the others
  std::int64_t life_ = 1;
  Numbers highest_{};  // number of each type
};

}  // namespace pcp::trace::agent
