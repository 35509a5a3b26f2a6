// SPDX-License-Identifier: LGPL-2.1-or-later
// Maps a tag and labels to the tag that has them, too: a small table per thread. The bytes of the
// labels are compared, never only their hash.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "harmless/wiped_memory.hpp"
#include "pcp/trace.h"
#include "tags/tag_registry.hpp"

namespace pcp::trace::client {

// Thread: the owner's.
class LabelCache {
  static constexpr std::size_t kMostBytes = 47;  // an entry is a cache line

 public:
  // Requires: no NULL in the labels.
  class Key {
   public:
    Key(const Tag* tag, const pmtrace_label* labels, std::size_t count) : tag_(tag) {
      for (const pmtrace_label* each = labels; each != labels + count; ++each)
        for (const char* text : {each->name, each->value}) add(text);
      place_ = (hash_of_name(bytes()) ^ reinterpret_cast<std::uintptr_t>(tag) >> 4) % kEntries;
    }
    bool fits() const { return length_ <= kMostBytes; }

   private:
    friend class LabelCache;

    // With its NUL, so that no two lists of labels have the same bytes.
    void add(const char* text) {
      if (!fits()) return;
      const void* const end = ::memccpy(bytes_.data() + length_, text, '\0', kMostBytes - length_);
      length_ = end == nullptr
                    ? kMostBytes + 1
                    : static_cast<std::size_t>(static_cast<const char*>(end) - bytes_.data());
    }
    std::string_view bytes() const { return {bytes_.data(), fits() ? length_ : 0}; }

    const Tag* tag_;
    std::size_t place_ = 0;
    std::size_t length_ = 0;
    std::array<char, kMostBytes> bytes_;
  };

  // Null if it is not here.
  const Tag* find(const Key& key) const {
    const Entries* const entries = entries_.find();
    if (entries == nullptr || !key.fits()) return nullptr;
    const Entry& entry = (*entries)[key.place_];
    const bool is_same = entry.tag == key.tag_ && entry.length == key.length_ &&
                         std::memcmp(entry.bytes.data(), key.bytes_.data(), key.length_) == 0;
    return is_same ? entry.found : nullptr;
  }

  void keep(const Key& key, const Tag* found) {
    Entries* const entries = key.fits() ? entries_.find_or_make() : nullptr;
    if (entries == nullptr) return;
    Entry& entry = (*entries)[key.place_];
    entry = {key.tag_, found, static_cast<std::uint8_t>(key.length_), {}};
    key.bytes().copy(entry.bytes.data(), kMostBytes);
  }

 private:
  static constexpr std::size_t kEntries = 64;
  struct Entry {
    const Tag* tag;
    const Tag* found;
    std::uint8_t length;
    std::array<char, kMostBytes> bytes;
  };
  static_assert(sizeof(Entry) == 64);
  using Entries = std::array<Entry, kEntries>;

  MadeWhenNeeded<Entries> entries_;  // most threads need none
};

}  // namespace pcp::trace::client
