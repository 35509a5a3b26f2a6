// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/label_text.hpp"

#include <algorithm>

#include "base/escape.hpp"

namespace pcp::trace::agent {

bool LabelText::add(std::string_view name, std::string_view value, std::size_t most) {
  return find(name) == nullptr && insert(name, json_string(value, most));
}

void LabelText::add(const LabelText& more) {
  for (const Label& label : more.labels_) {
    if (!find(more.name_of(label))) insert(more.name_of(label), more.value_of(label));
  }
}

std::vector<LabelText::Label>::const_iterator LabelText::position_of(std::string_view name) const {
  return std::lower_bound(
      labels_.begin(), labels_.end(), name,
      [this](const Label& label, std::string_view wanted) { return name_of(label) < wanted; });
}

const LabelText::Label* LabelText::find(std::string_view name) const {
  const auto found = position_of(name);
  return found != labels_.end() && name_of(*found) == name ? &*found : nullptr;
}

bool LabelText::insert(std::string_view name, std::string_view json) {
  const std::string begin = members_.empty() ? "\"" : ",\"";
  const std::string end = "\":";
  const std::size_t name_at = members_.size() + begin.size();
  const std::size_t value_at = name_at + name.size() + end.size();
  if (labels_.size() == kMaxLabels || value_at + json.size() > kMaxBytes) return false;
  const auto narrow = [](std::size_t number) { return static_cast<std::uint16_t>(number); };
  labels_.insert(position_of(name),
                 {narrow(name_at), narrow(name.size()), narrow(value_at), narrow(json.size())});
  members_.append(begin).append(name).append(end).append(json);
  return true;
}

LabelText::Set LabelText::in_common_with(const LabelText& other) const {
  Set set = 0;
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    const Label* const found = other.find(name_of(labels_[i]));
    if (found && other.value_of(*found) == value_of(labels_[i])) set |= Set{1} << i;
  }
  return set;
}

LabelText::Set LabelText::not_named_in(const LabelText& other) const {
  Set set = all();
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    if (other.find(name_of(labels_[i]))) set &= ~(Set{1} << i);
  }
  return set;
}

LabelText LabelText::part(Set set) const {
  LabelText part;
  for (std::size_t i = 0; i < labels_.size(); ++i) {
    if ((set >> i & 1) != 0) part.insert(name_of(labels_[i]), value_of(labels_[i]));
  }
  return part;
}

}  // namespace pcp::trace::agent
