// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tags/description.hpp"

#include <cstdlib>
#include <new>

#include "platform/texts.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::client {
namespace {

// Released by describe(), acquired by take_new_descriptions().
std::atomic<const TagDescription*> newest{nullptr};

}  // namespace

bool describe(const Tag& tag, std::string_view unit, std::string_view text) {
  unit = cut_text(unit, wire::kMaxUnitLength);
  text = cut_text(text, wire::kMaxDescriptionLength);
  if ((unit.empty() && text.empty()) || description_of(tag) != nullptr) return true;
  void* memory = std::malloc(sizeof(TagDescription) + unit.size() + text.size());
  if (memory == nullptr) return false;
  char* const bytes = static_cast<char*>(memory) + sizeof(TagDescription);
  unit.copy(bytes, unit.size());
  text.copy(bytes + unit.size(), text.size());
  auto* const made =
      new (memory) TagDescription{{bytes, unit.size()}, {bytes + unit.size(), text.size()}, &tag};
  const TagDescription* none = nullptr;
  if (!tag.description.compare_exchange_strong(none, made, std::memory_order_release,
                                               std::memory_order_relaxed)) {
    std::free(memory);  // another thread was first
    return true;
  }
  made->next = newest.load(std::memory_order_relaxed);
  while (!newest.compare_exchange_weak(made->next, made, std::memory_order_release,
                                       std::memory_order_relaxed))
    continue;
  return true;
}

const TagDescription* take_new_descriptions() {
  return newest.exchange(nullptr, std::memory_order_acquire);
}

}  // namespace pcp::trace::client
