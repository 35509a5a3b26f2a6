// SPDX-License-Identifier: LGPL-2.1-or-later
// One call's record in its thread's queue.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tags/tag_registry.hpp"
#include "wire/delta.hpp"
#include "wire/trace_type.hpp"

namespace pcp::trace::client {

// The trace types with their numbers, and two that only the client has. Each kind is a series of a
// tag with its own delta.
enum class RecordKind : std::uint64_t {
  Transact = 1,
  Point = 2,
  Observe = 3,
  Counter = 4,
  Add = 5,   // an increment of a counter
  Abort = 6  // a transaction that failed
};

inline constexpr std::size_t kSeries = 6;

constexpr TraceType type_of(RecordKind kind) {
  if (kind == RecordKind::Add) return TraceType::Counter;
  return kind == RecordKind::Abort ? TraceType::Transact : static_cast<TraceType>(kind);
}

// The compiler's own prefetch asks for writing only if told that every processor can. This one
// always asks: a processor that cannot ignores it.
inline void prefetch_for_writing(const char* address) {
#ifdef __x86_64__
  asm volatile("prefetchw (%0)" : : "r"(address));
#else
  __builtin_prefetch(address, 1);
#endif
}

// 16 bytes, since another processor reads all that a call writes: the kind takes the bits of the
// tag's address that are always zero.
class Record {
 public:
  Record() = default;
  Record(const Tag* tag, double its_value, RecordKind kind)
      : value(its_value),
        tag_and_kind_(reinterpret_cast<std::uintptr_t>(tag) | static_cast<std::uintptr_t>(kind)) {}

  // Constructed in the queue's memory. The flusher's processor has read the memory that follows,
  // and getting it back takes longer than the rest of a call: so prefetch it.
  Record(const Record& other) noexcept : value(other.value), tag_and_kind_(other.tag_and_kind_) {
    prefetch_for_writing(reinterpret_cast<const char*>(this) + kPrefetchBytes);
  }
  Record& operator=(const Record&) = default;

  const Tag* tag() const { return reinterpret_cast<const Tag*>(tag_and_kind_ & ~kKindMask); }
  RecordKind kind() const { return static_cast<RecordKind>(tag_and_kind_ & kKindMask); }

  double value = 0;  // seconds of a transaction, or the program's value

 private:
  static constexpr std::size_t kPrefetchBytes = 384;
  static constexpr std::uintptr_t kKindMask = alignof(Tag) - 1;
  static_assert(static_cast<std::uintptr_t>(RecordKind::Abort) <= kKindMask);

  std::uintptr_t tag_and_kind_ = 0;
};

// Adds increments to a delta. `last` is the sum of all increments of this process.
inline void add_increments(Delta& delta, std::uint64_t count, double sum) {
  add_calls(delta.count, count);
  add_value(delta.sum, sum);
  add_value(delta.last, sum);
}

// Adds a record to its tag's delta. True if its value belongs into a histogram. The order of the
// branches is the fastest measured.
inline bool add_to(Delta& delta, const Record& record) {
  const RecordKind kind = record.kind();
  if (kind == RecordKind::Point) {
    ++delta.count;
    return false;
  }
  if (kind == RecordKind::Transact || kind == RecordKind::Observe) return delta.add(record.value);
  switch (kind) {
    case RecordKind::Abort:
      return delta.add(record.value);
    case RecordKind::Add:
      add_increments(delta, 1, record.value);
      break;
    case RecordKind::Counter:  // only the last value is sent
      delta.last = record.value;
      if (!std::isfinite(record.value)) [[unlikely]]
        ++delta.nonfinite;
      ++delta.count;
      break;
    default:
      break;
  }
  return false;
}

static_assert(sizeof(Record) == 16 && std::is_trivially_destructible_v<Record>);

}  // namespace pcp::trace::client
