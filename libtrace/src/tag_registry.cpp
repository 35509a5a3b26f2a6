#include "tag_registry.hpp"

#include <array>
#include <cstdlib>
#include <new>

namespace pcp::trace::client {
namespace {

constexpr std::size_t kBuckets = 1 << 14;
constexpr std::string_view kOverflowName = "(overflow)";

// Zero pages until they are used. A bucket's head is written with release and read with acquire, so
// whoever sees a tag sees all of it.
std::array<std::atomic<const Tag*>, kBuckets> buckets;
std::atomic<std::uint32_t> tag_count;

std::size_t bucket_of(std::string_view name) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return (hash ^ (hash >> 32)) % kBuckets;
}

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

const Tag* intern_tag(std::string_view name) {
  std::atomic<const Tag*>& head = buckets[bucket_of(name)];
  const Tag* seen = head.load(std::memory_order_acquire);
  if (const Tag* found = find_in(seen, name)) return found;

  // The last id is kept for "(overflow)" itself.
  if (tag_count.load(std::memory_order_relaxed) >= kMaxTags - 1 && name != kOverflowName)
    return intern_tag(kOverflowName);

  Tag* tag = make_tag(name);
  if (tag == nullptr) return nullptr;
  tag->id = tag_count.fetch_add(1, std::memory_order_relaxed);
  tag->next = seen;
  while (!head.compare_exchange_weak(seen, tag, std::memory_order_release,
                                     std::memory_order_acquire)) {
    if (const Tag* found = find_in(seen, name)) {  // another thread was faster; the id stays unused
      std::free(tag);
      return found;
    }
    tag->next = seen;
  }
  return tag;
}

}  // namespace pcp::trace::client
