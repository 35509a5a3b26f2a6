// SPDX-License-Identifier: LGPL-2.1-or-later
// Labels as PCP takes them: the members of a JSON object, and where in that text each name and
// value is. Made once, and copied into every answer that shows them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pcp::trace::agent {

class LabelText {
 public:
  // Of one process. PCP takes up to 254 labels of an instance, the agent's own among them, and 64
  // KiB of all that it merges for a value.
  static constexpr std::size_t kMaxLabels = 64;
  static constexpr std::size_t kMaxBytes = 4096;

  // Where in the members a label is; its value with the quotes.
  struct Label {
    std::uint16_t name;
    std::uint16_t name_length;
    std::uint16_t value;
    std::uint16_t value_length;
  };

  // Which of the labels: bit i is the i-th of labels().
  using Set = std::uint64_t;
  static constexpr Set kAll = ~Set{0};
  static_assert(kMaxLabels <= 64);

  // Adds a label, with its value made a string of JSON and cut at `most` bytes; or gives false:
  // there is one of this name already, or no room for another. Requires: is_label_name(name).
  bool add(std::string_view name, std::string_view value, std::size_t most = kMaxBytes);

  // Adds those whose names are not here.
  void add(const LabelText& more);

  // Without the braces.
  const std::string& members() const { return members_; }

  // In the order of the names, as PCP wants them.
  const std::vector<Label>& labels() const { return labels_; }
  std::string_view name_of(const Label& label) const {
    return std::string_view(members_).substr(label.name, label.name_length);
  }

  Set all() const { return labels_.size() == kMaxLabels ? kAll : (Set{1} << labels_.size()) - 1; }

  // Those that `other` has with the same value, and those whose names it does not have.
  Set in_common_with(const LabelText& other) const;
  Set not_named_in(const LabelText& other) const;

  // These alone.
  LabelText part(Set set) const;

  bool operator==(const LabelText& other) const { return members_ == other.members_; }

 private:
  std::string_view value_of(const Label& label) const {
    return std::string_view(members_).substr(label.value, label.value_length);
  }
  // Where the label of this name is, or would be.
  std::vector<Label>::const_iterator place_of(std::string_view name) const;
  const Label* find(std::string_view name) const;  // null if there is none
  bool insert(std::string_view name, std::string_view json);

  std::string members_;
  std::vector<Label> labels_;
};

}  // namespace pcp::trace::agent
