// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tags/tag_registry.hpp"

#include <stdlib.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>

#include "wire/dimensions.hpp"
#include "wire/trace_type.hpp"

namespace pcp::trace::client {
namespace {

constexpr std::size_t kBuckets = 1 << 14;

// Zero pages until used. A bucket's head is written with release and read with acquire: a thread
// that sees a tag sees all of it.
std::array<std::atomic<const Tag*>, kBuckets> buckets;
std::atomic<std::uint32_t> tag_count;
std::atomic<bool> has_folded;  // ordered by what publishes a call to the flusher

constexpr std::uint32_t kDefaultLabelSets = 1000;
constexpr std::uint32_t kUnreadLimit = ~std::uint32_t{0};

// Orders nothing else: every thread that finds it unread reads the same value.
std::atomic<std::uint32_t> label_sets_limit{kUnreadLimit};

const Tag* find_in(const Tag* list, std::string_view name) {
  while (list != nullptr && name_of(*list) != name) list = list->next;
  return list;
}

Tag* make_tag(std::string_view name) {
  constexpr std::size_t kReadableAfter = 7;
  void* memory = std::calloc(1, sizeof(Tag) + name.size() + 1 + kReadableAfter);
  if (memory == nullptr) return nullptr;
  Tag* tag = new (memory) Tag{};
  tag->length = static_cast<std::uint32_t>(name.size());
  char* text = static_cast<char*>(memory) + sizeof(Tag);
  name.copy(text, name.size());
  return tag;
}

}  // namespace

std::optional<std::uint32_t> parse_label_set_limit(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > kMaxLabelSetLimit)
    return {};
  return number;
}

std::uint32_t label_set_limit() {
  std::uint32_t known = label_sets_limit.load(std::memory_order_relaxed);
  if (known != kUnreadLimit) return known;
  const char* text = ::secure_getenv("PCP_TRACE_MAX_LABEL_SETS");
  known = parse_label_set_limit(text != nullptr ? text : "").value_or(kDefaultLabelSets);
  label_sets_limit.store(known, std::memory_order_relaxed);
  return known;
}

// Eight bytes at a time, since every call by name from Fortran hashes.
std::uint64_t hash_of_name(std::string_view name) {
  std::uint64_t hash = name.size();
  std::uint64_t word;
  const auto mix_in_word = [&] {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  };
  std::size_t at = 0;
  for (; name.size() - at >= sizeof word; at += sizeof word) {
    std::memcpy(&word, name.data() + at, sizeof word);
    mix_in_word();
  }
  word = 0;
  for (; at < name.size(); ++at) word = word << 8 | static_cast<unsigned char>(name[at]);
  mix_in_word();
  return hash;
}

const Tag* intern_tag(std::string_view name) {
  std::atomic<const Tag*>& head = buckets[hash_of_name(name) % kBuckets];
  const Tag* seen = head.load(std::memory_order_acquire);
  if (const Tag* found = find_in(seen, name)) return found;

  const std::string_view bare = bare_name(name);
  const Tag* named = bare.size() < name.size() ? intern_tag(bare) : nullptr;

  // The last id is kept for "(overflow)" itself.
  if (tag_count.load(std::memory_order_relaxed) >= kMaxTags - 1 && name != kOverflowName) {
    note_folded_labels();
    return named != nullptr ? named : intern_tag(kOverflowName);
  }
  if (named != nullptr && named->label_sets.load(std::memory_order_acquire) >= label_set_limit()) {
    // Tags that are already counted can be found, perhaps since a moment ago.
    const Tag* const found = find_in(head.load(std::memory_order_acquire), name);
    return found != nullptr ? found : named;
  }

  Tag* tag = make_tag(name);
  if (tag == nullptr) return nullptr;
  tag->id = tag_count.fetch_add(1, std::memory_order_relaxed);
  tag->next = seen;
  while (!head.compare_exchange_weak(seen, tag, std::memory_order_release,
                                     std::memory_order_acquire)) {
    if (const Tag* found = find_in(seen, name)) {  // another thread won; the id stays unused
      std::free(tag);
      return found;
    }
    tag->next = seen;
  }
  if (named != nullptr) named->label_sets.fetch_add(1, std::memory_order_release);
  return tag;
}

bool has_folded_labels() { return has_folded.load(std::memory_order_relaxed); }
void note_folded_labels() { has_folded.store(true, std::memory_order_relaxed); }

std::uint32_t end_of_tag_ids() { return tag_count.load(std::memory_order_relaxed); }

}  // namespace pcp::trace::client
