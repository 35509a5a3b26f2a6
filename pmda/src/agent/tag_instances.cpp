#include "agent/tag_instances.hpp"

#include <utility>

namespace pcp::trace::agent {

void TagInstances::refresh(Shared& shared) {
  std::vector<InstanceName> slice;
  slice.reserve(kSliceTags);
  do {
    slice.clear();
    {
      const std::lock_guard lock(shared.mutex);
      const std::uint64_t resets = shared.engine.generation(type_).resets;
      if (std::exchange(resets_, resets) != resets) {
        instances_.clear();
        by_number_.clear();
        by_first_word_.clear();
      }
      shared.engine.instances(type_, instances_.size(), kSliceTags, slice);
    }
    for (InstanceName& instance : slice) add(std::move(instance));
  } while (slice.size() == kSliceTags);
}

void TagInstances::add(InstanceName&& instance) {
  by_number_[instance.instance] = instances_.size();
  by_first_word_[std::string(first_word(instance.name))] = instances_.size();
  instances_.push_back({instance.instance, std::move(instance.name)});
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
