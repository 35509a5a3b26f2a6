// SPDX-License-Identifier: LGPL-2.1-or-later
// Records that are not sent yet, added up per tag: an hour without an agent is one delta per tag,
// however many calls there were.
//
// Thread: the flusher's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "counts/overflow.hpp"
#include "counts/queue_record.hpp"
#include "wire/delta.hpp"
#include "wire/histogram.hpp"

namespace pcp::trace::client {

class Pending {
 public:
  // A record touches only the first two cache lines: delta, time, and the histogram's first part.
  struct alignas(64) Entry {
    Delta delta;                // `last` of increments: the process's total, kept by pop()
    std::uint64_t last_ns = 0;  // when the flusher saw the last record; 0: none
    Histogram histogram;
    std::uint64_t first_ns = 0;
    const Tag* tag = nullptr;
    Entry* next_queued = nullptr;
    RecordKind series{};
    bool is_queued = false;

    TraceType type() const { return type_of(series); }
    bool is_added() const { return series == RecordKind::Add; }
    bool is_of_failures() const { return series == RecordKind::Abort; }
    std::uint64_t records() const { return delta.count; }  // 0: redefine()
  };
  static_assert(sizeof(Delta) + sizeof(std::uint64_t) == 64);

  // A record whose entry is being prefetched: with many tags none is in a near cache.
  struct Fetched {
    Entry* entry = nullptr;  // null if there is none yet
    Record record;
  };
  Fetched fetch(const Record& record) const noexcept {
    Fetched fetched;
    fetched.entry = find(record.tag(), record.kind());
    fetched.record = record;
    const auto address = reinterpret_cast<std::uintptr_t>(fetched.entry);  // null does no harm
    __builtin_prefetch(reinterpret_cast<const void*>(address), 1);
    __builtin_prefetch(reinterpret_cast<const void*>(address + 64), 1);
    return fetched;
  }

  // Makes room for so many records or cells, of any existing tags. Throws if there is no memory,
  // with nothing changed.
  void make_room(std::size_t records);

  // Requires: room for them.
  void add(std::span<const Fetched> some, std::uint64_t now_ns);
  void add(const OverflowCell& cell, std::uint64_t now_ns);

  // Queues a tag with earlier records, so that it is defined again; its entry may stay empty. True
  // if it is queued. Allocates nothing.
  bool redefine(const Tag& tag);

  // Puts back the unsent rest of an entry. Its values are in no histogram any more.
  void add_again(const Entry& entry);

  bool empty() const { return queued_ == popped_; }

  // The longest-waiting entry. pop() resets it and keeps its memory.
  Entry& front() { return *first_; }
  void pop();

  // Entries ever queued and ever popped: everything pending when queued() gave n is handed over
  // when popped() reaches n.
  std::uint64_t queued() const { return queued_; }
  std::uint64_t popped() const { return popped_; }

 private:
  // Null if there is none yet.
  Entry* find(const Tag* tag, RecordKind series) const {
    const std::size_t index = index_of(tag, series);
    return index < by_tag_.size() ? by_tag_[index] : nullptr;
  }
  static std::size_t index_of(const Tag* tag, RecordKind series) {
    return std::size_t{tag->id} * kSeries + static_cast<std::size_t>(series) - 1;
  }

  void queue(Entry& entry);

  // Gives the entry; takes and queues it if needed. Requires: room for it.
  Entry& queued_entry(const Tag* tag, RecordKind series, std::uint64_t first_ns);

  std::vector<Entry*> by_tag_;
  std::deque<Entry> entries_;  // never shrinks; gives stable addresses
  std::size_t taken_ = 0;      // used part of entries_; the rest is for new tags

  // The queued entries.
  Entry* first_ = nullptr;
  Entry* last_ = nullptr;
  std::uint64_t queued_ = 0;
  std::uint64_t popped_ = 0;
};

}  // namespace pcp::trace::client
