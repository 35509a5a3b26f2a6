// What a call leaves in its thread's queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tag_registry.hpp"
#include "wire/delta.hpp"
#include "wire/trace_type.hpp"

namespace pcp::trace::client {

// The trace types with their numbers, and one that only the client knows.
enum class RecordKind : std::uint64_t {
  Transact = 1,
  Point = 2,
  Observe = 3,
  Counter = 4,
  Abort = 5
};

constexpr TraceType type_of(RecordKind kind) {
  return kind == RecordKind::Abort ? TraceType::Transact : static_cast<TraceType>(kind);
}

// The compiler's own would ask only for reading, unless told that all processors know the other.
// Those that do not take it for nothing.
inline void prefetch_for_writing(const char* place) {
#ifdef __x86_64__
  asm volatile("prefetchw %0" : : "m"(*place));
#else
  __builtin_prefetch(place, 1);
#endif
}

struct Record {
  const Tag* tag = nullptr;
  double value = 0;  // seconds of a transaction, or what the program gave
  RecordKind kind{};

  Record() = default;
  Record(const Tag* its_tag, double its_value, RecordKind its_kind)
      : tag(its_tag), value(its_value), kind(its_kind) {}

  // Constructed in its place in the queue. The flusher's processor has read the places that follow,
  // and getting them back takes longer than all the rest of a call: so ask for them early.
  Record(const Record& other) noexcept : tag(other.tag), value(other.value), kind(other.kind) {
    prefetch_for_writing(reinterpret_cast<const char*>(this) + kPrefetchBytes);
  }
  Record& operator=(const Record&) = default;

 private:
  static constexpr std::size_t kPrefetchBytes = 384;
};

// Adds a record to its tag's delta. Tells whether its value belongs into a histogram.
inline bool add_to(Delta& delta, const Record& record) {
  switch (record.kind) {
    case RecordKind::Abort:
      ++delta.aborts;
      return false;
    case RecordKind::Point:
      ++delta.count;
      return false;
    default:
      return delta.add(record.value) && has_histogram(type_of(record.kind));
  }
}

static_assert(sizeof(Record) == 24 && std::is_trivially_destructible_v<Record>);

}  // namespace pcp::trace::client
