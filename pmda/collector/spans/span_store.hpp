// SPDX-License-Identifier: LGPL-2.1-or-later
// Spans that monitors have not read yet, in bounded memory. Each span is stored once.
// Each of its captures with cursors queues the span until all these cursors have passed it.
//
// Without room, the user with most bytes loses its oldest spans: so each user keeps a fair share.
// Each capture numbers its spans as they enter, and a cursor knows its next number, so the count of
// missed spans is an exact difference.
//
// No locks here. Each step is short, however much there is to free: sweep() does the rest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collector/spans/stored_span.hpp"
#include "collector/spans/thinned_queue.hpp"

namespace pcp::trace::agent {

// A monitor's position.
struct SpanCursor {
  std::size_t bit = 0;
  std::uint64_t next_key = 0;
  std::uint64_t next_number = 0;
  std::uint64_t missed = 0;  // the capture's count of spans missed by programs
};

// The next spans of a cursor. The reader may take any number of them from the front.
struct SpanReading {
  struct Entry {
    std::uint64_t key;
    std::uint64_t number;
    SpanPtr span;
  };
  std::vector<Entry> entries;
  bool is_all = false;  // no more spans follow
  SpanCursor from;
  SpanCursor to;  // after the last span

  // How many spans the cursor has missed after taking `taken` of these.
  std::uint64_t missed(std::size_t taken) const;
  SpanCursor after(std::size_t taken) const;
};

class SpanStore {
 public:
  explicit SpanStore(std::size_t most_bytes) : most_bytes_(most_bytes) {}
  SpanStore(const SpanStore&) = delete;
  SpanStore& operator=(const SpanStore&) = delete;

  // Stores a span for its captures with cursors. `owner` is the span's user.
  void add(StoredSpan span, const std::string& owner);

  // Adds to the count of a capture's spans that programs could not send.
  void note_missed(std::size_t bit, std::uint64_t count) { queues_[bit].missed += count; }

  using Cursor = std::list<SpanCursor>::iterator;

  // A new cursor begins with the next span added.
  Cursor open_cursor(std::size_t bit);
  void close_cursor(Cursor cursor);

  // Only one reading is open at a time. Its spans stay valid, even if dropped meanwhile.
  SpanReading read(Cursor cursor, std::size_t most);
  void advance(Cursor cursor, const SpanCursor& to);

  // The number of waiting spans, or slightly more.
  std::size_t waiting(Cursor cursor) const;

  std::size_t bytes() const { return bytes_; }
  std::size_t most_bytes() const { return most_bytes_; }
  void set_most_bytes(std::size_t bytes) { most_bytes_ = bytes; }

  // Spans dropped before all cursors had read them, counted per capture.
  std::uint64_t overwritten() const { return overwritten_; }

  // Frees some unwanted spans, and some over the limit. True if there is more to do.
  bool sweep();

 private:
  struct User;

  struct Kept : StoredSpan {
    explicit Kept(StoredSpan&& sent) : StoredSpan(std::move(sent)) {}
    std::uint64_t key = 0;
    User* user = nullptr;
    std::size_t bytes = 0;
    std::size_t queues = 0;  // number of queues with this span
  };
  using KeptPtr = std::shared_ptr<Kept>;

  struct User {
    std::map<std::string, User>::iterator self;
    ThinnedQueue<KeptPtr> spans;
    std::size_t bytes = 0;
  };

  struct Waiting {
    std::uint64_t number = 0;
    KeptPtr span;
    explicit operator bool() const { return span != nullptr; }
  };

  struct CaptureQueue {
    std::list<SpanCursor> cursors;
    std::uint64_t entered = 0;
    std::uint64_t missed = 0;  // reported by programs
    ThinnedQueue<Waiting> spans;
  };

  // Spans that were read and not yet taken.
  struct InHand {
    const SpanCursor* reader = nullptr;
    std::uint64_t end_key = 0;
    std::vector<std::uint64_t> dropped{};  // keys that all other cursors have passed
  };

  bool is_in_hand(std::size_t bit, std::uint64_t key) const;
  void settle(const SpanCursor& reader, std::uint64_t taken_until);
  bool forget_unwanted();
  bool trim(CaptureQueue& queue, std::size_t most);
  bool make_room();
  User& with_most();
  void drop_oldest(User& user);
  void leave_queue(const Waiting& waiting);
  void forget(Kept& span);

  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::uint64_t last_key_ = 0;
  std::uint64_t overwritten_ = 0;
  InHand in_hand_;
  std::array<CaptureQueue, wire::kMaxCaptures> queues_;
  std::map<std::string, User> users_;
};

}  // namespace pcp::trace::agent
