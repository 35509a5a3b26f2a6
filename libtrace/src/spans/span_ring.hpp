// SPDX-License-Identifier: LGPL-2.1-or-later
// Ended spans, encoded, in a ring of bytes in the black box (wire/black_box.hpp has the layout).
// New ones go to the head, and the oldest leave at the tail. An empty ring begins again with its
// first pages, and pages behind the tail go back to the system: memory follows use.
//
// The index has the newest record of each bucket, by the hash of the trace. It is never cleaned:
// what is older than the tail is gone.
//
// Thread: the flusher's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>

#include "spans/black_box.hpp"
#include "wire/events.hpp"

namespace pcp::trace::client {

class SpanRing {
 public:
  using Record = wire::box::Record;
  using Position = std::uint64_t;

  static std::string_view fields(const Record& record) {
    return {reinterpret_cast<const char*>(&record + 1), record.bytes - sizeof(Record)};
  }

  // Nobody wants it any more, or it was no record.
  static bool is_done(const Record& record) {
    return is_gap(record) || (record.undecided | record.to_send | record.in_flight) == 0;
  }

  SpanRing(BlackBox& box, std::size_t most_bytes)
      : box_(box), size_(wire::box::paged(most_bytes)) {}

  bool empty() const { return tail_ == head_; }
  bool has(Position position) const { return position >= tail_; }
  Record& at(Position position) { return reinterpret_cast<Record&>(ring_[position % size_]); }
  Record& oldest() { return at(tail_); }

  void remove_oldest() {
    tail_ += padded(oldest().bytes);
    if (empty()) begin_again();
    shared_->tail.store(tail_, std::memory_order_release);
    if (tail_ - given_back_ >= kGiveBackBytes) give_back_behind_tail();
  }

  // Calls let_go_oldest(), which removes it, until there is room. Throws if there is no memory,
  // with nothing changed. Requires: bytes for it, in an empty ring.
  template <typename LetGoOldest>
  Position append(Record record, std::string_view fields, LetGoOldest let_go_oldest) {
    const std::size_t bytes = padded(sizeof record + fields.size());
    make_memory();
    const auto make_room = [&](std::size_t needed) {
      while (head_ + needed - tail_ > size_) let_go_oldest();
    };
    if (const std::size_t rest = size_ - head_ % size_; rest < bytes) {
      make_room(rest);
      if (head_ % size_ != 0) {  // it did not begin again meanwhile
        Record& gap = at(head_);
        gap.bytes = static_cast<std::uint16_t>(rest);
        gap.tag_and_flags = wire::box::kGap;
        head_ += rest;
      }
    }
    make_room(bytes);
    record.bytes = static_cast<std::uint16_t>(sizeof record + fields.size());
    Position& newest = newest_of(wire::hash_of_trace(record.trace_low));
    record.back = newest >= tail_ ? newest : 0;
    Record* const made = &(at(head_) = record);
    std::memcpy(made + 1, fields.data(), fields.size());
    newest = head_;
    head_ += bytes;
    shared_->head.store(head_, std::memory_order_release);
    return newest;
  }

  // Visits the undecided records of a trace.
  template <typename Visit>
  void for_each_of(std::uint64_t hash, Visit visit) {
    if (empty()) return;
    for (Position position = newest_of(hash); position >= tail_;) {
      Record& record = at(position);
      const Position back = record.back;
      if (record.undecided != 0 && wire::hash_of_trace(record.trace_low) == hash)
        visit(position, record);
      position = back;
    }
  }

  // Visits all undecided records, the oldest first.
  template <typename Visit>
  void for_each(Visit visit) {
    for (Position position = tail_; position != head_; position += padded(at(position).bytes))
      if (!is_gap(at(position)) && at(position).undecided != 0) visit(position, at(position));
  }

  // Bytes from this record to the newest one.
  std::size_t bytes_since(Position position) const { return head_ - position; }

 private:
  static constexpr std::size_t kBytesOfBucket = 256;
  static constexpr std::size_t kGiveBackBytes = 256u << 10;

  static bool is_gap(const Record& record) { return record.tag_and_flags == wire::box::kGap; }
  static constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) & ~std::size_t{7}; }
  std::size_t buckets() const { return size_ / kBytesOfBucket; }
  Position& newest_of(std::uint64_t hash) { return index_[hash % buckets()]; }

  void make_memory() {
    if (ring_ != nullptr) return;
    using namespace wire::box;
    if (index_ == nullptr)
      index_.reset(static_cast<Position*>(std::calloc(buckets(), sizeof(Position))));
    void* const memory = index_ != nullptr ? box_.map(kRingHeadAt, kPage + size_) : nullptr;
    if (memory == nullptr) throw std::bad_alloc();
    shared_ = static_cast<RingHead*>(memory);
    ring_ = static_cast<char*>(memory) + kPage;
    head_ = tail_ = given_back_ = size_;  // no record is at position 0
    publish();
  }

  void publish() {
    shared_->tail.store(tail_, std::memory_order_release);
    shared_->head.store(head_, std::memory_order_release);
  }

  // Requires: it is empty.
  void begin_again() {
    give_back_behind_tail();
    head_ = tail_ = given_back_ = (head_ + size_ - 1) / size_ * size_;
    publish();
  }

  // Pages that new records have reached since are in use again.
  void give_back_behind_tail() {
    const Position from =
        wire::box::paged(std::max(given_back_, head_ > size_ ? head_ - size_ : 0));
    const Position end = tail_ / wire::box::kPage * wire::box::kPage;
    if (from + kGiveBackBytes <= end) {
      const Position border = end / size_ * size_;
      if (from < border) box_.give_back(ring_ + from % size_, border - from);
      const Position rest = std::max(from, border);
      box_.give_back(ring_ + rest % size_, end - rest);
    }
    given_back_ = tail_;
  }

  struct Free {
    void operator()(Position* index) const { std::free(index); }
  };

  BlackBox& box_;
  const std::size_t size_;
  wire::box::RingHead* shared_ = nullptr;  // copies for a reader
  char* ring_ = nullptr;
  std::unique_ptr<Position[], Free> index_;  // 0: none
  Position tail_ = 0;                        // of the oldest
  Position head_ = 0;
  Position given_back_ = 0;  // up to here, if anything
};

}  // namespace pcp::trace::client
