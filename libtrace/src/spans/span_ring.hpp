// SPDX-License-Identifier: LGPL-2.1-or-later
// Ended spans, encoded, in a ring of bytes. New ones go to the head, and the oldest leave at the
// tail. Another process can read the ring: it has no pointers.
//
// A position only grows; its byte is position % size. At each position between tail and head is a
// Record, in this machine's byte order, and behind it the span's other fields as in EVENTS
// (wire::append_span). The next record begins at the next multiple of 8. A record does not go over
// the end of the ring: a gap is there, with no more than `bytes` and no `capture_bits`.
//
// The ring begins small. A full one is replaced by a larger one, up to the limit.
//
// The index has the newest record of each bucket, by the hash of the trace. It is never cleaned:
// what is older than the tail is gone.
//
// Thread: the flusher's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/events.hpp"

namespace pcp::trace::client {

class SpanRing {
 public:
  struct Record {
    std::uint16_t bytes = 0;             // with the fields behind it
    std::uint16_t epoch = 0;             // low half; of the set that defines the bits
    wire::CaptureBits capture_bits = 0;  // of captures that may still want it; 0: decided, or a gap
    std::uint32_t tag_and_flags = 0;     // the tag's id; TraceContext::flags() in the low 8 bits
    std::uint32_t back = 0;              // bytes to the record before it in its bucket; 0: none
    std::uint64_t since_ns = 0;          // by the monotonic clock
    std::uint64_t trace_low = 0;

    std::string_view fields() const {
      return {reinterpret_cast<const char*>(this + 1), bytes - sizeof(Record)};
    }
  };
  static_assert(sizeof(Record) == 32 && sizeof(Record) + wire::kMaxSpanBytes <= UINT16_MAX);

  explicit SpanRing(std::size_t most_bytes) : SpanRing(most_bytes, kFirstSize) {}

  bool empty() const { return tail_ == head_; }
  Record& oldest() { return at(tail_); }
  void remove_oldest() { tail_ += padded(oldest().bytes); }

  // At the limit, calls let_go_oldest(), which removes it, until there is room. Throws if there is
  // no memory, with nothing changed. Requires: bytes for it, in an empty ring.
  template <typename LetGoOldest>
  void append(Record record, std::uint64_t hash, std::string_view fields,
              LetGoOldest let_go_oldest) {
    const std::size_t bytes = padded(sizeof record + fields.size());
    make_memory();
    while (size_ < most_ && head_ - tail_ + 2 * bytes > size_) grow();
    const auto make_room = [&](std::size_t needed) {
      while (head_ + needed - tail_ > size_) let_go_oldest();
    };
    record.bytes = static_cast<std::uint16_t>(sizeof record + fields.size());
    if (const std::size_t rest = size_ - head_ % size_; rest < bytes) {
      make_room(rest);
      at(head_).bytes = static_cast<std::uint16_t>(rest);
      at(head_).capture_bits = 0;
      head_ += rest;
    }
    make_room(bytes);
    std::uint64_t& newest = newest_of(hash);
    record.back = newest >= tail_ ? static_cast<std::uint32_t>(head_ - newest) : 0;
    Record* const made = &(at(head_) = record);
    std::memcpy(made + 1, fields.data(), fields.size());
    newest = head_;
    head_ += bytes;
  }

  // Visits the undecided records of a trace.
  template <typename Visit>
  void for_each_of(std::uint64_t hash, Visit visit) {
    if (empty()) return;
    for (std::uint64_t position = newest_of(hash); position >= tail_;) {
      Record& record = at(position);
      if (record.capture_bits != 0 && wire::hash_of_trace(record.trace_low) == hash) visit(record);
      if (record.back == 0) return;
      position -= record.back;
    }
  }

  // Visits all undecided records of the last so many bytes.
  template <typename Visit>
  void for_each_of_last(std::size_t bytes, Visit visit) {
    for (std::uint64_t position = tail_; position != head_; position += padded(at(position).bytes))
      if (head_ - position <= bytes && at(position).capture_bits != 0) visit(at(position));
  }

  // Also gives the memory back.
  void clear() { *this = SpanRing(most_); }

 private:
  static constexpr std::size_t kBytesOfBucket = 256;
  static constexpr std::size_t kFirstSize = 128u << 10;

  SpanRing(std::size_t most_bytes, std::size_t size)
      : most_(padded(most_bytes)), size_(std::min(most_, size)) {}

  static constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) & ~std::size_t{7}; }
  Record& at(std::uint64_t position) { return reinterpret_cast<Record&>(ring_[position % size_]); }
  std::uint64_t& newest_of(std::uint64_t hash) { return index_[hash % index_.size()]; }
  void make_memory() {
    if (ring_ != nullptr) return;
    index_.resize(size_ / kBytesOfBucket + 1);
    ring_.reset(new char[size_]);  // the system gives pages when they are written
  }

  // The records, which are fewer, fit without a gap.
  void grow() {
    SpanRing larger(most_, 2 * size_);
    larger.make_memory();
    for_each_of_last(size_, [&](const Record& record) {
      larger.append(record, wire::hash_of_trace(record.trace_low), record.fields(), [] {});
    });
    *this = std::move(larger);
  }

  std::size_t most_;
  std::size_t size_;
  std::unique_ptr<char[]> ring_;
  std::vector<std::uint64_t> index_;  // positions; 0: none
  std::uint64_t tail_ = padded(1);    // of the oldest
  std::uint64_t head_ = tail_;
};

}  // namespace pcp::trace::client
