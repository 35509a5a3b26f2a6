// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/tag_instances.hpp"

#include <utility>

#include "collector/engine/instance_names.hpp"

namespace pcp::trace::agent {

void TagInstances::refresh(const Reader& reader) {
  const std::uint64_t resets = reader.resets();
  if (std::exchange(resets_, resets) != resets) {
    instances_.clear();
    by_number_.clear();
    by_first_word_.clear();
  }
  reader.instances(type_, instances_.size(), [this](const InstanceName& each) { add(each); });
}

void TagInstances::add(const InstanceName& instance) {
  std::string name = shown_name(instance.tag, instance.instance, instance.suffixes);
  by_number_[instance.instance] = instances_.size();
  by_first_word_[std::string(first_word(name))] = instances_.size();
  instances_.push_back({instance.instance, std::move(name)});
}

const Instance* TagInstances::find(int number) const {
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? nullptr : &instances_[found->second];
}

const Instance* TagInstances::find(std::string_view name) const {
  const auto found = by_first_word_.find(std::string(first_word(name)));
  if (found == by_first_word_.end()) return nullptr;
  const Instance& instance = instances_[found->second];
  return means(name, instance.name) ? &instance : nullptr;
}

}  // namespace pcp::trace::agent
