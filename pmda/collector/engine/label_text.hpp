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

  // Adds a label, with its value made printable and cut at `most` bytes; or gives false: there is
  // one of this name already, or no room for another. Requires: is_label_name(name).
  bool add(std::string_view name, std::string_view value, std::size_t most = kMaxBytes);

  // Without the braces.
  const std::string& members() const { return members_; }

  // In the order of the names, as PCP wants them.
  const std::vector<Label>& labels() const { return labels_; }
  std::string_view name_of(const Label& label) const {
    return std::string_view(members_).substr(label.name, label.name_length);
  }

  bool operator==(const LabelText& other) const { return members_ == other.members_; }

 private:
  std::string members_;
  std::vector<Label> labels_;
};

}  // namespace pcp::trace::agent
