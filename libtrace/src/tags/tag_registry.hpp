// SPDX-License-Identifier: LGPL-2.1-or-later
// All tags of the process: one object per name, never freed. So a pointer is a handle that stays
// valid on any thread, in exit handlers and in a forked child.
//
// Thread: any. Insertion is a compare-and-swap into a bucket's list, so a fork during an insertion
// leaves no lock held in the child.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pcp::trace::client {
struct TagDescription;
}

// The target of the C API's opaque handle.
struct pmtrace_tag_record {
  const pmtrace_tag_record* next;  // in its bucket
  std::uint32_t id;                // 0, 1, 2 ... in order of creation
  std::uint32_t length;
  // Each stands for itself, but for two: a set of labels is in its bucket before it is counted here
  // (released and acquired by intern_tag()), and the description is published (description.hpp).
  mutable std::atomic<bool> has_begun;             // ever opened as a transaction by name
  mutable std::atomic<std::uint32_t> label_sets;   // tags that are this name with labels
  mutable std::atomic<bool> does_not_nest;         // see ThreadTrace
  mutable std::atomic<std::uint64_t> captured_by;  // CaptureSet's: an epoch and its bits
  mutable std::atomic<const pcp::trace::client::TagDescription*> description;

  // With its NUL. The seven bytes before and after it are readable, too.
  const char* text() const { return reinterpret_cast<const char*>(this + 1); }
};

namespace pcp::trace::client {

using Tag = pmtrace_tag_record;

inline std::string_view name_of(const Tag& tag) { return {tag.text(), tag.length}; }

// The most tags of a process. Further names share the tag "(overflow)": sums stay exact, and memory
// is bounded for a program that invents names.
inline constexpr std::uint32_t kMaxTags = 100'000;

inline constexpr std::uint32_t kMaxLabelSetLimit = 100'000;

// Nothing if this is no number from 0 to kMaxLabelSetLimit; ClientOptions reports that.
std::optional<std::uint32_t> parse_label_set_limit(std::string_view text);

// PCP_TRACE_MAX_LABEL_SETS: how many label sets one name may have in this process. Read at the
// first tag with labels, perhaps in a constructor before main(). Threads that race for the last
// sets may each make one, since they do not wait for each other.
std::uint32_t label_set_limit();

std::uint64_t hash_of_name(std::string_view name);

// Finds a tag or makes it. Null if there is no memory. A name with labels gives the bare name's tag
// if there is no room (label_set_limit(), kMaxTags). Requires: is_tag(name).
const Tag* intern_tag(std::string_view name);

// True once a look-up gave the bare name's tag or "(overflow)" instead, or none for labels that a
// transaction should end with: here, or in a parent, whose handles live on in a forked child. Noted
// before the look-up ends, so before any call by that handle. Thread: any.
bool has_folded_labels();
void note_folded_labels();

// Every published tag has a lower id than this. Thread: any.
std::uint32_t end_of_tag_ids();

}  // namespace pcp::trace::client
