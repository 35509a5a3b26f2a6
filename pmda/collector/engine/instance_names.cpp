// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/instance_names.hpp"

#include "base/escape.hpp"
#include "wire/dimensions.hpp"
#include "wire/first_word.hpp"

namespace pcp::trace::agent {

namespace {

std::string shown_word(std::string_view tag) { return std::string(first_word(shown_tag(tag))); }

}  // namespace

// No byte of the labels is escaped.
std::string shown_tag(std::string_view tag) {
  const std::string_view bare = bare_name(tag);
  const std::string_view labels = tag.substr(bare.size());
  return printable(bare, kMaxShownBytes - labels.size()).append(labels);
}

std::string shown_name(std::string_view tag, std::int32_t instance, NameSuffixes suffixes) {
  std::string name = shown_tag(tag);
  const std::size_t word = first_word(name).size();
  for (; suffixes > 0; --suffixes) name.insert(word, suffix_of(instance));
  return name;
}

// The loop ends, because a tag is too short to look like a name with 255 suffixes.
NameSuffixes InstanceNames::claim(TraceType type, std::string_view tag, std::int32_t instance) {
  std::string word = shown_word(tag);
  NameSuffixes suffixes = 0;
  while (!taken_.insert(hash_(word, index_of(type))).second) {
    word += suffix_of(instance);
    ++suffixes;
  }
  return suffixes;
}

void InstanceNames::release(TraceType type, std::string_view tag, std::int32_t instance,
                            NameSuffixes suffixes) {
  std::string word = shown_word(tag);
  for (; suffixes > 0; --suffixes) word += suffix_of(instance);
  taken_.erase(hash_(word, index_of(type)));
}

}  // namespace pcp::trace::agent
