// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/spans/span_store.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "base/heap.hpp"

namespace pcp::trace::agent {

namespace {

// Spans freed per step: some hundred microseconds.
constexpr std::size_t kStep = 500;

// The same after a fetch: more spans than a fetch usually gets.
constexpr std::size_t kReadStep = 2000;

// Steps per added span. Each usually frees much more than the span needs. If little can be freed,
// the memory exceeds its limit a little for a while.
constexpr int kMostSteps = 8;

// The bytes of a span besides itself and its texts, and its bytes per capture.
constexpr std::size_t kAround = 64;
constexpr std::size_t kAtEachQueue = 40;

// A part of the memory, so that one search for the largest user serves many spans.
std::size_t slack(std::size_t most_bytes) { return most_bytes / 256; }

// Appending leaves a text with up to twice the needed capacity.
std::size_t take_no_more_than_needed(std::string& text) {
  text.shrink_to_fit();
  const bool is_within = text.capacity() == std::string().capacity();
  return is_within ? 0 : heap_bytes(text.capacity() + 1);
}

// Counts shared names in full for each span, so that the limit is never exceeded.
std::size_t names_of(const StoredSpan& span) {
  return (span.tag ? span.tag->size() : 0) + (span.source ? span.source->bytes() : 0);
}

}  // namespace

std::uint64_t SpanReading::missed(std::size_t taken) const {
  return after(taken).next_number - from.next_number - taken + to.missed - from.missed;
}

SpanCursor SpanReading::after(std::size_t taken) const {
  if (is_all && taken == entries.size()) return to;
  SpanCursor cursor = from;
  cursor.missed = to.missed;
  if (taken == 0) return cursor;
  cursor.next_key = entries[taken - 1].key + 1;
  cursor.next_number = entries[taken - 1].number + 1;
  return cursor;
}

void SpanStore::add(StoredSpan span, const std::string& owner) {
  CaptureBits wanted = 0;
  wire::for_each_bit(span.capture_bits, [&](std::size_t bit) {
    if (!queues_[bit].cursors.empty()) wanted |= CaptureBits{1} << bit;
  });
  if (wanted == 0) return;
  span.capture_bits = wanted;
  const auto kept = std::make_shared<Kept>(std::move(span));
  kept->key = ++last_key_;
  kept->bytes = heap_bytes(sizeof(Kept) + kAround) + names_of(*kept) +
                kAtEachQueue * (1 + static_cast<std::size_t>(std::popcount(wanted)));
  for (std::string* const text : {&kept->attributes, &kept->links, &kept->reason})
    kept->bytes += take_no_more_than_needed(*text);
  const auto found = users_.try_emplace(owner).first;
  User& user = found->second;
  user.self = found;
  user.spans.push(kept->key, kept);
  kept->user = &user;
  user.bytes += kept->bytes;
  bytes_ += kept->bytes;
  wire::for_each_bit(wanted, [&](std::size_t bit) {
    CaptureQueue& queue = queues_[bit];
    queue.spans.push(kept->key, {queue.entered++, kept});
    ++kept->queues;
  });
  for (int step = 0; step < kMostSteps && make_room(); ++step) {
  }
}

SpanStore::Cursor SpanStore::open_cursor(std::size_t bit) {
  CaptureQueue& queue = queues_[bit];
  queue.cursors.push_back({bit, last_key_ + 1, queue.entered, queue.missed});
  return std::prev(queue.cursors.end());
}

void SpanStore::close_cursor(Cursor cursor) {
  CaptureQueue& queue = queues_[cursor->bit];
  settle(*cursor, 0);
  queue.cursors.erase(cursor);
  trim(queue, kStep);
}

SpanReading SpanStore::read(Cursor cursor, std::size_t most) {
  const CaptureQueue& queue = queues_[cursor->bit];
  SpanReading reading;
  reading.from = *cursor;
  reading.to = {cursor->bit, last_key_ + 1, queue.entered, queue.missed};
  reading.is_all = true;
  queue.spans.each_from(cursor->next_key, [&](const auto& entry) {
    reading.is_all = reading.entries.size() < most;
    if (reading.is_all)
      reading.entries.push_back({entry.key, entry.value.number, entry.value.span});
    return reading.is_all;
  });
  if (in_hand_.reader != nullptr) settle(*in_hand_.reader, 0);
  in_hand_.dropped.reserve(reading.entries.size());
  in_hand_.end_key = reading.after(reading.entries.size()).next_key;
  in_hand_.reader = &*cursor;
  return reading;
}

bool SpanStore::is_in_hand(std::size_t bit, std::uint64_t key) const {
  const SpanCursor* const reader = in_hand_.reader;
  if (reader == nullptr || reader->bit != bit || key >= in_hand_.end_key) return false;
  const auto& cursors = queues_[bit].cursors;
  return std::none_of(cursors.begin(), cursors.end(), [&](const SpanCursor& each) {
    return &each != reader && each.next_key <= key;
  });
}

// The reader has taken spans up to this key. The remaining dropped spans count as overwritten.
void SpanStore::settle(const SpanCursor& reader, std::uint64_t taken_until) {
  if (in_hand_.reader != &reader) return;
  in_hand_.reader = nullptr;
  for (const std::uint64_t key : in_hand_.dropped) overwritten_ += key >= taken_until ? 1 : 0;
  in_hand_.dropped.clear();
}

void SpanStore::advance(Cursor cursor, const SpanCursor& to) {
  settle(*cursor, to.next_key);
  *cursor = to;
  trim(queues_[cursor->bit], kReadStep);
}

std::size_t SpanStore::waiting(Cursor cursor) const {
  return queues_[cursor->bit].spans.count_from(cursor->next_key);
}

bool SpanStore::sweep() {
  const bool more = forget_unwanted();
  return make_room() || more;
}

// Frees some unwanted spans. True if there are more.
bool SpanStore::forget_unwanted() {
  bool more = false;
  for (CaptureQueue& queue : queues_) more |= trim(queue, kStep);
  return more;
}

// Frees up to `most` spans that all cursors have passed; without cursors, any. True if there are
// more.
bool SpanStore::trim(CaptureQueue& queue, std::size_t most) {
  std::uint64_t passed = std::numeric_limits<std::uint64_t>::max();
  for (const SpanCursor& cursor : queue.cursors) passed = std::min(passed, cursor.next_key);
  for (std::size_t i = 0; i < most; ++i) {
    if (queue.spans.empty() || queue.spans.front().key >= passed) return false;
    leave_queue(queue.spans.pop_front());
  }
  return true;
}

// Unwanted spans go first. True if there are still too many.
bool SpanStore::make_room() {
  if (bytes_ <= most_bytes_) return false;
  if (!forget_unwanted() && bytes_ > most_bytes_) {
    const std::size_t enough = most_bytes_ - slack(most_bytes_);
    User& user = with_most();
    for (std::size_t i = 0; i < kStep && bytes_ > enough && !user.spans.empty(); ++i)
      drop_oldest(user);
    if (user.spans.empty()) users_.erase(user.self);
  }
  return bytes_ > most_bytes_;
}

// Requires: there is a user.
SpanStore::User& SpanStore::with_most() {
  return std::max_element(users_.begin(), users_.end(),
                          [](const auto& one, const auto& other) {
                            return one.second.bytes < other.second.bytes;
                          })
      ->second;
}

void SpanStore::drop_oldest(User& user) {
  const KeptPtr oldest = user.spans.pop_front();
  wire::for_each_bit(oldest->capture_bits, [&](std::size_t bit) {
    CaptureQueue& queue = queues_[bit];
    if (!queue.spans.remove(oldest->key)) return;
    if (is_in_hand(bit, oldest->key))
      in_hand_.dropped.push_back(oldest->key);
    else
      ++overwritten_;
  });
  forget(*oldest);
}

void SpanStore::leave_queue(const Waiting& waiting) {
  Kept& span = *waiting.span;
  if (--span.queues > 0) return;
  User& user = *span.user;
  user.spans.remove(span.key);
  forget(span);
  if (user.spans.empty()) users_.erase(user.self);
}

void SpanStore::forget(Kept& span) {
  span.user->bytes -= span.bytes;
  bytes_ -= span.bytes;
}

}  // namespace pcp::trace::agent
