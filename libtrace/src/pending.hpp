// What was recorded and not sent yet, added up per tag: the flusher's side of an hour without an
// agent is one delta per tag, however many calls there were.
//
// Thread: the flusher's.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "overflow.hpp"
#include "record.hpp"
#include "wire/delta.hpp"
#include "wire/histogram.hpp"

namespace pcp::trace::client {

class Pending {
 public:
  struct Entry {
    const Tag* tag = nullptr;
    TraceType type{};
    Delta delta;
    Histogram histogram;
    std::uint64_t first_ns = 0;  // when the flusher saw the first and the last record of it
    std::uint64_t last_ns = 0;

    std::uint64_t records() const { return delta.count + delta.aborts; }
  };

  void add(const Record& record, std::uint64_t now_ns);
  void add(const OverflowCell& cell, std::uint64_t now_ns);

  // Puts back what could not be sent after all. Its values are not in any histogram any more.
  void add_again(const Entry& entry);

  bool empty() const { return queue_.empty(); }

  // The entry that has waited longest. pop() forgets its numbers and keeps its memory.
  Entry& front() { return *queue_.front(); }
  void pop();

  // Entries ever queued and ever popped: what was pending when `queued()` gave n has been handed
  // over when `popped()` reaches n.
  std::uint64_t queued() const { return popped_ + queue_.size(); }
  std::uint64_t popped() const { return popped_; }

 private:
  Entry& entry(const Tag* tag, TraceType type, std::uint64_t first_ns, std::uint64_t last_ns);

  std::vector<std::array<Entry*, kTraceTypes.size()>> by_tag_;  // at the tag's id
  std::deque<Entry> entries_;  // never shrinks; gives stable addresses
  std::deque<Entry*> queue_;   // those with something in them
  std::uint64_t popped_ = 0;
};

}  // namespace pcp::trace::client
