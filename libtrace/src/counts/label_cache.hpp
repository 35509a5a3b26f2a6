// SPDX-License-Identifier: LGPL-2.1-or-later
// Maps a tag and labels to the tag that has them, too: a small table per thread. The bytes of the
// labels are compared, never only their hash.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "pcp/trace.h"
#include "platform/wiped_memory.hpp"
#include "tags/tag_registry.hpp"

namespace pcp::trace::client {

// Thread: the owner's.
class LabelCache {
 public:
  class Key {
   public:
    // Requires: no name or value is NULL.
    Key(const Tag* tag, const pmtrace_label* labels, std::size_t count) : tag_(tag) {
      std::uint64_t hash = reinterpret_cast<std::uintptr_t>(tag);
      for (const pmtrace_label* each = labels; each != labels + count; ++each)
        if (!add(each->name, hash) || !add(each->value, hash)) return;
      place_ = (hash * kFactor) >> (64 - kBits);
      bytes_.back() = static_cast<char>(length_);
      is_valid_ = true;
    }
    // False if the labels take more bytes than an entry has.
    bool is_valid() const { return is_valid_; }

   private:
    friend class LabelCache;
    static constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15u;

    // With its NUL: no two lists of labels have the same bytes and length.
    bool add(const char* text, std::uint64_t& hash) {
      do {
        if (length_ == bytes_.size() - 1) return false;
        bytes_[length_++] = *text;
        hash = (hash ^ static_cast<unsigned char>(*text)) * kFactor;
      } while (*text++ != '\0');
      return true;
    }

    const Tag* tag_;
    std::size_t place_ = 0;
    std::size_t length_ = 0;
    bool is_valid_ = false;
    std::array<char, 48> bytes_{};  // the last one is the length
  };

  // Null if it is not here. Requires: a valid key.
  const Tag* find(const Key& key) const {
    const Entries* const entries = entries_.find();
    if (entries == nullptr) return nullptr;
    const Entry& entry = (*entries)[key.place_];
    const bool is_same = entry.tag == key.tag_ && std::memcmp(entry.bytes.data(), key.bytes_.data(),
                                                              sizeof entry.bytes) == 0;
    return is_same ? entry.found : nullptr;
  }

  void keep(const Key& key, const Tag* found) {
    if (Entries* const entries = entries_.find_or_make())
      (*entries)[key.place_] = {key.tag_, found, key.bytes_};
  }

 private:
  static constexpr unsigned kBits = 6;
  struct Entry {
    const Tag* tag;
    const Tag* found;
    std::array<char, 48> bytes;
  };
  static_assert(sizeof(Entry) == 64, "a cache line");
  using Entries = std::array<Entry, 1u << kBits>;

  MadeWhenNeeded<Entries> entries_;  // most threads need none
};

}  // namespace pcp::trace::client
