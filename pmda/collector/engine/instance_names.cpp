// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/instance_names.hpp"

#include <algorithm>

#include "collector/engine/printable.hpp"

namespace pcp::trace::agent {

namespace {

std::string suffix_of(std::int32_t instance) { return '#' + std::to_string(instance); }

std::string first_word(std::string_view tag) {
  std::string word = printable(tag, kMaxShownBytes);
  word.resize(std::min(word.find(' '), word.size()));
  return word;
}

}  // namespace

std::string shown_name(std::string_view tag, std::int32_t instance, NameSuffixes suffixes) {
  std::string name = printable(tag, kMaxShownBytes);
  const std::size_t word = std::min(name.find(' '), name.size());
  for (; suffixes > 0; --suffixes) name.insert(word, suffix_of(instance));
  return name;
}

// The loop ends, because a tag is too short to look like a name with 255 suffixes.
NameSuffixes InstanceNames::claim(TraceType type, std::string_view tag, std::int32_t instance) {
  std::string word = first_word(tag);
  NameSuffixes suffixes = 0;
  while (!taken_.insert(hash_(word, index_of(type))).second) {
    word += suffix_of(instance);
    ++suffixes;
  }
  return suffixes;
}

void InstanceNames::release(TraceType type, std::string_view tag, std::int32_t instance,
                            NameSuffixes suffixes) {
  std::string word = first_word(tag);
  for (; suffixes > 0; --suffixes) word += suffix_of(instance);
  taken_.erase(hash_(word, index_of(type)));
}

}  // namespace pcp::trace::agent
