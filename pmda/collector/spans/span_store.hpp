// SPDX-License-Identifier: LGPL-2.1-or-later
// Spans that monitors have still to read, in bounded memory. Each is kept once, and waits at its
// places until the cursors there have passed it; without cursors a place keeps nothing.
//
// Where there is no more room the user who has most loses his oldest ones: so nobody keeps others
// from a fair part. At a place spans are numbered as they enter, and a cursor knows the number of
// its next one: so what it has missed is a difference, and exact.
//
// No locks here. No step takes long, whatever there is to free: the rest is for sweep().
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

// Up to where a monitor has read.
struct SpanCursor {
  std::size_t place = 0;
  std::uint64_t next_key = 0;
  std::uint64_t next_number = 0;
  std::uint64_t missed = 0;  // how many its place had counted as missed by programs
};

// The next spans of a cursor. It may have those of its first spans that it wants.
struct SpanReading {
  struct Entry {
    std::uint64_t key;
    std::uint64_t number;
    SpanPtr span;
  };
  std::vector<Entry> entries;
  bool is_all = false;  // there are no more
  SpanCursor from;
  SpanCursor to;  // behind all that has entered

  // How many the cursor has missed when it has taken so many.
  std::uint64_t missed(std::size_t taken) const;
  SpanCursor after(std::size_t taken) const;
};

class SpanStore {
 public:
  explicit SpanStore(std::size_t most_bytes) : most_bytes_(most_bytes) {}
  SpanStore(const SpanStore&) = delete;
  SpanStore& operator=(const SpanStore&) = delete;

  // Keeps a span for those of its places that have cursors. `owner` is its user.
  void add(StoredSpan span, const std::string& owner);

  // Programs have counted spans for a place that will not come.
  void note_missed(std::size_t place, std::uint64_t count) { places_[place].missed += count; }

  using Cursor = std::list<SpanCursor>::iterator;

  // A new one begins at what comes from now on.
  Cursor begin(std::size_t place);
  void end(Cursor cursor);

  // One is read at a time, and has what it takes of it, even if that has been dropped meanwhile.
  SpanReading read(Cursor cursor, std::size_t most);
  void advance(Cursor cursor, const SpanCursor& to);

  // How many spans wait for it, or a few more.
  std::size_t waiting(Cursor cursor) const;

  std::size_t bytes() const { return bytes_; }
  std::size_t most_bytes() const { return most_bytes_; }
  void set_most_bytes(std::size_t bytes) { most_bytes_ = bytes; }

  // Spans that were dropped before all cursors had them, counted at each place.
  std::uint64_t overwritten() const { return overwritten_; }

  // Frees some of what nobody waits for, and of what there is too much. True if there is more.
  bool sweep();

 private:
  struct User;

  struct Kept : StoredSpan {
    explicit Kept(StoredSpan&& sent) : StoredSpan(std::move(sent)) {}
    std::uint64_t key = 0;
    User* user = nullptr;
    std::size_t bytes = 0;
    std::size_t queues = 0;  // that have it
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

  struct Place {
    std::list<SpanCursor> cursors;
    std::uint64_t entered = 0;
    std::uint64_t missed = 0;  // by programs
    ThinnedQueue<Waiting> queue;
  };

  // What was read and not yet taken.
  struct InHand {
    const SpanCursor* reader = nullptr;
    std::uint64_t end_key = 0;
    std::vector<std::uint64_t> dropped{};  // keys, of those that all others have had
  };

  bool is_in_hand(std::size_t place, std::uint64_t key) const;
  void settle(const SpanCursor& reader, std::uint64_t taken_until);
  bool forget_unwanted();
  bool trim(Place& place, std::size_t most);
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
  std::array<Place, kPlaces> places_;
  std::map<std::string, User> users_;
};

}  // namespace pcp::trace::agent
