// SPDX-License-Identifier: LGPL-2.1-or-later
// What PCP's tools show for a tag. They tell instances apart by the first word of their names, the
// bytes up to the first blank. So a tag whose first word is taken gets its number after that word:
//
//   read /etc/passwd      instance 1, shown as it is
//   read /etc/group       instance 2, shown as "read#2 /etc/group"
//
// Control bytes, bytes that are not UTF-8, and leading blanks are shown as \xNN, and what becomes
// too long by that is cut: see printable.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "collector/engine/keyed_hash.hpp"
#include "wire/trace_type.hpp"

namespace pcp::trace::agent {

// How many times a name repeats its number: once is enough unless a tag looks like a shown name.
using NameSuffixes = std::uint8_t;

std::string shown_name(std::string_view tag, std::int32_t instance, NameSuffixes suffixes);

// The first words that are taken, of each type of tracing. Instances claim theirs in the order of
// their numbers, so that they come out the same in every life of the agent.
class InstanceNames {
 public:
  // Takes the memory of the index at once: growing it later would take too long. It is small, since
  // a tag's words are looked up but once.
  explicit InstanceNames(std::size_t max_names) {
    taken_.max_load_factor(8);
    taken_.reserve(max_names);
  }

  // Takes a name for this tag, and says which.
  NameSuffixes claim(TraceType type, std::string_view tag, std::int32_t instance);

  // Gives back the name that the tag has claimed, with as many suffixes as claim() said.
  void release(TraceType type, std::string_view tag, std::int32_t instance, NameSuffixes suffixes);

 private:
  // Their hashes. Should two words ever have the same, one gets a number that it does not need.
  std::unordered_set<std::uint64_t> taken_;
  KeyedHash hash_;
};

}  // namespace pcp::trace::agent
