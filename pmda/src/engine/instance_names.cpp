#include "engine/instance_names.hpp"

#include <algorithm>

#include "engine/escape.hpp"

namespace pcp::trace::agent {

namespace {

// Gives the length of the printable UTF-8 character that `text` begins with; 0 if there is none.
std::size_t printable_length(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f ? 1 : 0;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool control = lead == 0xc2 && byte(1) < 0xa0;
  const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xed && byte(1) >= 0xa0;
  const bool too_great = lead == 0xf4 && byte(1) >= 0x90;
  return control || overlong || surrogate || too_great ? 0 : length;
}

std::string printable(std::string_view tag) {
  std::string out;
  while (tag.starts_with(' ')) {
    append_escaped(out, ' ');
    tag.remove_prefix(1);
  }
  while (!tag.empty()) {
    const std::size_t length = printable_length(tag);
    if (length == 0) {
      append_escaped(out, tag.front());
    } else {
      out += tag.substr(0, length);
    }
    tag.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string suffix_of(std::int32_t instance) { return '#' + std::to_string(instance); }

}  // namespace

std::string shown_name(std::string_view tag, std::int32_t instance, NameSuffixes suffixes) {
  std::string name = printable(tag);
  const std::size_t word = std::min(name.find(' '), name.size());
  for (; suffixes > 0; --suffixes) name.insert(word, suffix_of(instance));
  return name;
}

// Ends, because a tag is too short to look like a name with 255 suffixes.
NameSuffixes InstanceNames::claim(TraceType type, std::string_view tag, std::int32_t instance) {
  std::string word = printable(tag);
  word.resize(std::min(word.find(' '), word.size()));
  NameSuffixes suffixes = 0;
  while (!taken_.insert(hash_(word, index_of(type))).second) {
    word += suffix_of(instance);
    ++suffixes;
  }
  return suffixes;
}

}  // namespace pcp::trace::agent
