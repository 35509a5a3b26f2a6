// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/tag_instances.hpp"

#include <utility>

#include "collector/engine/instance_names.hpp"
#include "metrics/copy_in_slices.hpp"

namespace pcp::trace::agent {

void TagInstances::refresh(Shared& shared) {
  copy_in_slices<InstanceName>(
      shared,
      [this](const Engine& engine, std::size_t max, std::vector<InstanceName>& out) {
        const std::uint64_t resets = engine.generation(type_).resets;
        if (std::exchange(resets_, resets) != resets) {
          instances_.clear();
          by_number_.clear();
          by_first_word_.clear();
        }
        engine.instances(type_, instances_.size(), max, out);
      },
      [this](const InstanceName& instance) { add(instance); });
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
