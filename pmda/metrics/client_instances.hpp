// SPDX-License-Identifier: LGPL-2.1-or-later
// The instances of trace.client: processes that have been connected for a while. Each keeps its
// number while it is connected. The number is the pid, if that is free.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "collector/reader.hpp"
#include "metrics/instance.hpp"

namespace pcp::trace::agent {

struct ClientInstance : Instance {
  ClientView view;
};

class ClientInstances {
 public:
  ClientInstances();

  void refresh(const Reader& reader, Instant now);

  const std::vector<ClientInstance>& all() const { return instances_; }

  // Null if there is none.
  const ClientInstance* find(int number) const;
  const ClientInstance* find(std::string_view name) const;

 private:
  template <typename Test>
  const ClientInstance* find_if(Test test) const {
    const auto found = std::find_if(instances_.begin(), instances_.end(), test);
    return found == instances_.end() ? nullptr : &*found;
  }
  int number_of(std::uint64_t connection, std::uint32_t pid);

  std::vector<ClientInstance> instances_;
  std::map<std::uint64_t, int> numbers_;  // of the shown connections
  std::set<int> taken_;                   // the values of numbers_
  int spare_;                             // next number for a process whose pid is taken
};

}  // namespace pcp::trace::agent
