// SPDX-License-Identifier: LGPL-2.1-or-later
// Instance names for PCP's tools. The tools tell instances apart by their first words, that is the
// bytes up to the first blank. So a tag whose first word is taken gets its number after that word:
//
//   read /etc/passwd      instance 1, shown as it is
//   read /etc/group       instance 2, shown as "read#2 /etc/group"
//
// Control bytes, bytes that are not UTF-8, and leading blanks are shown as \xNN. Names that become
// too long are cut before their labels: see base/escape.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/keyed_hash.hpp"
#include "wire/trace_type.hpp"

namespace pcp::trace::agent {

// How often a name repeats its number: once is enough unless a tag looks like a shown name.
using NameSuffixes = std::uint8_t;

// The tag without a number.
std::string shown_tag(std::string_view tag);

std::string shown_name(std::string_view tag, std::int32_t instance, NameSuffixes suffixes);

// The first words in use, for each type of tracing. Instances claim theirs in the order of their
// numbers, so that names are the same in every life of the agent.
class InstanceNames {
 public:
  // Takes the index's memory at once, because growing it later would take too long. The index is
  // small (high load factor), because each tag's word is looked up only once.
  explicit InstanceNames(std::size_t max_names) {
    taken_.max_load_factor(8);
    taken_.reserve(max_names);
  }

  // Claims a name for this tag, and gives its number of suffixes.
  NameSuffixes claim(TraceType type, std::string_view tag, std::int32_t instance);

  // Releases the name that claim() gave with this many suffixes.
  void release(TraceType type, std::string_view tag, std::int32_t instance, NameSuffixes suffixes);

 private:
  // Hashes of the words. If two words had the same hash, one would get a needless number.
  std::unordered_set<std::uint64_t> taken_;
  KeyedHash hash_;
};

}  // namespace pcp::trace::agent
