// SPDX-License-Identifier: LGPL-2.1-or-later
// Labels in PCP's form: the members of a JSON object, with the position of each name and value in
// the text. Made once, and copied into every answer that shows the labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pcp::trace::agent {

class LabelText {
 public:
  // Limits for one process. PCP takes up to 254 labels per instance, including the agent's own, and
  // 64 KiB for all labels merged for a value.
  static constexpr std::size_t kMaxLabels = 64;
  static constexpr std::size_t kMaxBytes = 4096;

  // A label's position in the members. The value includes its quotes.
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

  // Adds a label; its value becomes a JSON string, cut at `most` bytes. False if the name exists
  // already or there is no room. Requires: is_label_name(name).
  bool add(std::string_view name, std::string_view value, std::size_t most = kMaxBytes);

  // Adds the labels whose names are new.
  void add(const LabelText& more);

  // The JSON members, without the braces.
  const std::string& members() const { return members_; }

  // Sorted by name, as PCP wants them.
  const std::vector<Label>& labels() const { return labels_; }
  std::string_view name_of(const Label& label) const {
    return std::string_view(members_).substr(label.name, label.name_length);
  }

  Set all() const { return labels_.size() == kMaxLabels ? kAll : (Set{1} << labels_.size()) - 1; }

  // Labels that `other` has with the same value; labels whose names `other` lacks.
  Set in_common_with(const LabelText& other) const;
  Set not_named_in(const LabelText& other) const;

  // Only these labels.
  LabelText part(Set set) const;

  bool operator==(const LabelText& other) const { return members_ == other.members_; }

 private:
  std::string_view value_of(const Label& label) const {
    return std::string_view(members_).substr(label.value, label.value_length);
  }
  // The position of the label with this name, or where it would be inserted.
  std::vector<Label>::const_iterator position_of(std::string_view name) const;
  const Label* find(std::string_view name) const;  // null if there is none
  bool insert(std::string_view name, std::string_view json);

  std::string members_;
  std::vector<Label> labels_;
};

}  // namespace pcp::trace::agent
