// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record/description.hpp"

#include <cstdlib>
#include <new>

#include "record/cut_text.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::client {

bool describe(const Tag& tag, std::string_view unit, std::string_view text) {
  unit = cut_text(unit, wire::kMaxUnitLength);
  text = cut_text(text, wire::kMaxDescriptionLength);
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
