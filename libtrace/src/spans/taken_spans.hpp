// SPDX-License-Identifier: LGPL-2.1-or-later
// Ended spans that the flusher has taken from the threads: those to be sent, until the agent has
// acknowledged them, and those that nobody wants yet. Encoded, in the ring of the black box.
//
// Thread: the flusher's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "spans/capture_set.hpp"
#include "spans/span_pool.hpp"
#include "spans/span_ring.hpp"
#include "wire/events.hpp"

namespace pcp::trace::client {

class TakenSpans {
 public:
  using Record = SpanRing::Record;
  using Position = SpanRing::Position;

  TakenSpans(BlackBox& box, std::size_t most_bytes) : ring_(box, most_bytes) {}

  // Spans taken from now on begin by this clock.
  void set_clock(std::int64_t wall_minus_monotonic) {
    wall_minus_monotonic_ = wall_minus_monotonic;
  }

  // Adds a span. Without room calls let_go(record) for the oldest ones. Throws if there is no
  // memory, with nothing changed.
  template <typename LetGo>
  void add(const CapturedSpan& span, CaptureBits to_send, CaptureBits undecided,
           std::uint64_t now_ns, LetGo let_go) {
    encode(span);
    if (to_send != 0) ready_.push_back({});
    try {
      const Position position = ring_.append(
          {.epoch = static_cast<std::uint16_t>(span.epoch),
           .tag_and_flags = span.tag->id << 8 | static_cast<std::uint32_t>(span.context.flags()),
           .undecided = undecided,
           .to_send = to_send,
           .since_ns = now_ns,
           .trace_low = span.context.trace_low},
          fields_, [&] { let_go_oldest(let_go); });
      if (to_send != 0) ready_.back() = {position, false};
    } catch (const std::bad_alloc&) {
      if (to_send != 0) ready_.pop_back();
      throw;
    }
  }

  // The undecided bits about which this process decides: others are in EVENTS, so the agent does.
  static CaptureBits still_here(const Record& record) {
    return record.undecided & ~record.in_flight;
  }

  // Visits the undecided ones of a trace. The visitor may change their bits.
  template <typename Visit>
  void for_each_of(std::uint64_t hash, Visit visit) {
    ring_.for_each_of(hash, visit);
  }

  // Sends an undecided one for these captures. Throws if there is no memory, with nothing changed.
  void send(Position position, CaptureBits bits);

  // Lets go of the oldest ones that are settled, or that may_go(record).
  template <typename MayGo, typename LetGo>
  void let_go(MayGo may_go, LetGo let_go) {
    while (!ring_.empty() && (SpanRing::is_done(ring_.oldest()) || may_go(ring_.oldest())))
      let_go_oldest(let_go);
  }

  // The process ends: sends the newest undecided ones as held, and forgets the others.
  void send_undecided(std::size_t most_bytes);
  void forget_undecided();

  // The next one to send; null: none.
  struct Ready {
    Record* record;
    bool is_held;
    CaptureBits bits;
  };
  std::size_t ready() const { return ready_.size(); }
  bool next(Ready& next);
  const Tag* tag_of(const Record& record) const { return tags_[record.tag_and_flags >> 8]; }
  // Appends it as in EVENTS. Throws if there is no memory.
  void append(const Ready& ready, std::string& body) const;
  // It is in the EVENTS of this sequence, or null: nobody wants it any more. Gives its place.
  struct Place {
    Position position = 0;
    bool is_held = false;
  };
  Place remove_next(const std::uint64_t* sequence);

  // The agent has them, or they are lost and counted.
  void settle(const std::vector<Place>& in_flight);

 private:
  void encode(const CapturedSpan& span);
  void let_go_of_settled() {
    let_go([](const Record&) { return false; }, [](const Record&) {});
  }

  template <typename LetGo>
  void let_go_oldest(LetGo& let_go) {
    if (!SpanRing::is_done(ring_.oldest())) let_go(ring_.oldest());
    ring_.remove_oldest();
  }

  SpanRing ring_;
  std::int64_t wall_minus_monotonic_ = 0;
  std::vector<const Tag*> tags_;  // of the ring's spans, by their ids
  std::string fields_;            // of the span that is added now
  std::deque<Place> ready_;       // to be sent; some may have gone since
};

}  // namespace pcp::trace::client
