// SPDX-License-Identifier: LGPL-2.1-or-later
// The instances that PCP is shown: tags of one type, and processes. pmcd asks for all of a domain,
// a number's name, or a name's number. PCP's rule for names: the first word alone also identifies
// an instance.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collector/reader.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::agent {

struct Instance {
  int number = 0;
  std::string name;
};

// For both classes below. Returns 0 or a PCP error. A null `name` asks for the number's name or, if
// `number` is PM_IN_NULL, for all instances. The caller owns the result, allocated with malloc.
template <typename Instances>
int answer_instances(const Instances& instances, pmInDom indom, int number, const char* name,
                     pmInResult** result);

// Kept by the main thread and updated when pmcd asks. Only new instances are copied.
class TagInstances {
 public:
  explicit TagInstances(TraceType type) : type_(type) {}

  void refresh(const Reader& reader);

  const std::vector<Instance>& all() const { return instances_; }  // in order of arrival

  // Null if there is none.
  const Instance* find(int number) const;
  const Instance* find(std::string_view name) const;

 private:
  TraceType type_;
  std::uint32_t life_ = 0;  // Reader::life() at the last refresh
  std::vector<Instance> instances_;
  std::unordered_map<int, std::size_t> by_number_;
  std::unordered_map<std::string, std::size_t> by_first_word_;  // first words are unique
};

struct ClientInstance : Instance {
  ClientView view;
};

// The instances of trace.client: processes that have been connected for a while. Each keeps its
// number while it is connected. The number is the pid, if that is free.
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
  const ClientInstance* find_if(Test test) const;
  int number_of(std::uint64_t connection, std::uint32_t pid);

  std::vector<ClientInstance> instances_;
  std::map<std::uint64_t, int> numbers_;  // of the shown connections
  std::set<int> taken_;                   // the values of numbers_
  int spare_;                             // next number for a process whose pid is taken
};

}  // namespace pcp::trace::agent
