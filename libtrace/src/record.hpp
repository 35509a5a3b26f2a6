// What a call leaves in its thread's queue.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tag_registry.hpp"
#include "wire/delta.hpp"
#include "wire/trace_type.hpp"

namespace pcp::trace::client {

// The trace types with their numbers, and one that only the client knows.
enum class RecordKind : std::uint8_t {
  Transact = 1,
  Point = 2,
  Observe = 3,
  Counter = 4,
  Abort = 5
};

constexpr TraceType type_of(RecordKind kind) {
  return kind == RecordKind::Abort ? TraceType::Transact : static_cast<TraceType>(kind);
}

struct Record {
  const Tag* tag;
  double value;  // seconds of a transaction, or what the program gave
  RecordKind kind;
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

static_assert(sizeof(Record) == 24 && std::is_trivially_copyable_v<Record>);

}  // namespace pcp::trace::client
