// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record/description.hpp"

#include <cstdlib>
#include <new>

#include "wire/batch.hpp"

namespace pcp::trace::client {
namespace {

// Between two characters of UTF-8.
std::string_view cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  const auto goes_on = [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; };
  while (most > 0 && goes_on(text[most])) --most;
  return text.substr(0, most);
}

}  // namespace

bool describe(const Tag& tag, std::string_view unit, std::string_view text) {
  unit = cut(unit, wire::kMaxUnitLength);
  text = cut(text, wire::kMaxDescriptionLength);
  if ((unit.empty() && text.empty()) || description_of(tag) != nullptr) return true;
  void* memory = std::malloc(sizeof(Description) + unit.size() + text.size());
  if (memory == nullptr) return false;
  char* const bytes = static_cast<char*>(memory) + sizeof(Description);
  unit.copy(bytes, unit.size());
  text.copy(bytes + unit.size(), text.size());
  const auto* made =
      new (memory) Description{{bytes, unit.size()}, {bytes + unit.size(), text.size()}};
  const Description* none = nullptr;
  if (!tag.description.compare_exchange_strong(none, made, std::memory_order_release,
                                               std::memory_order_relaxed))
    std::free(memory);  // another thread was first
  return true;
}

}  // namespace pcp::trace::client
