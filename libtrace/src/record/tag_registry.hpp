// SPDX-License-Identifier: LGPL-2.1-or-later
// All tags of the process: one object per name, made once and never freed, so that a pointer is a
// handle that stays good on any thread, in exit handlers and in a forked child.
//
// Thread: any. Insertion is a compare-and-swap into a bucket's list, so a fork in the middle of
// somebody's insertion leaves nothing locked in the child.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pcp::trace::client {
struct Description;
}

// The C API's opaque handle points here.
struct pmtrace_tag_record {
  const pmtrace_tag_record* next;  // in its bucket
  std::uint32_t id;                // 0, 1, 2 ... in order of creation
  std::uint32_t length;
  mutable std::atomic<bool> has_begun;             // ever opened as a transaction by name
  mutable std::atomic<std::uint32_t> label_sets;   // tags that are this name with labels
  mutable std::atomic<bool> stands_for_others;     // for sets of labels for which there is no room
  mutable std::atomic<bool> is_no_parent;          // its transactions do not nest; see ThreadTrace
  mutable std::atomic<std::uint64_t> captured_by;  // CaptureSet's: an epoch and the places then
  mutable std::atomic<const pcp::trace::client::Description*> description;  // description.hpp

  // With its NUL. Seven bytes before it and after it can be read, too.
  const char* text() const { return reinterpret_cast<const char*>(this + 1); }
};

namespace pcp::trace::client {

using Tag = pmtrace_tag_record;

inline std::string_view name_of(const Tag& tag) { return {tag.text(), tag.length}; }

// A process has at most so many tags; all further names share the tag "(overflow)", which is exact
// in sum and bounds the memory of a program that invents names.
inline constexpr std::uint32_t kMaxTags = 100'000;

std::uint64_t hash_of_name(std::string_view name);

// Finds a tag or makes it. Null if there is no memory. A name with labels for which there is no
// room (label_set_limit.hpp), or beyond the tags of a process, gives the bare name's. Requires:
// is_tag(name).
const Tag* intern_tag(std::string_view name);

// All tags that anybody has seen have lower ids than this. Thread: any.
std::uint32_t end_of_tag_ids();

}  // namespace pcp::trace::client
