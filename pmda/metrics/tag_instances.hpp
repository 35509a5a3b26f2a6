// SPDX-License-Identifier: LGPL-2.1-or-later
// The names and numbers of one trace type's instances, kept by the main thread and updated when
// pmcd asks. Only new instances are copied.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collector/reader.hpp"
#include "metrics/instance.hpp"

namespace pcp::trace::agent {

class TagInstances {
 public:
  explicit TagInstances(TraceType type) : type_(type) {}

  void refresh(const Reader& reader);

  const std::vector<Instance>& all() const { return instances_; }  // in order of arrival

  // Null if there is none.
  const Instance* find(int number) const;
  const Instance* find(std::string_view name) const;

 private:
  void add(const InstanceName& instance);

  TraceType type_;
  std::uint64_t resets_ = 0;  // Reader::resets() at the last refresh
  std::vector<Instance> instances_;
  std::unordered_map<int, std::size_t> by_number_;
  std::unordered_map<std::string, std::size_t> by_first_word_;  // first words are unique
};

}  // namespace pcp::trace::agent
