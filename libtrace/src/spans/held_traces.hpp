// SPDX-License-Identifier: LGPL-2.1-or-later
// Which traces are wanted whole by filters with slower= or another reason, and ended spans that
// nobody wants yet: of traces that cross processes, and those that ended after the transaction
// around them.
//
// A process wants a trace when a transaction selected by such a filter is slow, and tells the
// agent. The agent tells all processes of the capture, and these send what they have of the trace.
// Until then they hold it: for the time that a transaction needs to become slow, and some seconds
// for the message. If there are too many, the oldest go first. A trace that is wanted after some of
// it has gone counts these spans as missed. A process that ends gives the last ones to the agent,
// which holds them instead.
//
// Nothing here throws. Without memory a span counts as missed, and a wanted trace is forgotten.
//
// Thread: the flusher's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "spans/capture_books.hpp"
#include "spans/last_ones.hpp"
#include "spans/span_pool.hpp"
#include "spans/taken_spans.hpp"
#include "wire/events.hpp"

namespace pcp::trace::client {

// Decisions about an ended span, by captures.
struct Fates {
  CaptureBits kept = 0;
  CaptureBits over_limit = 0;
  CaptureBits held = 0;
};

class HeldTraces {
 public:
  // Beside the slower= of the filter.
  static constexpr std::uint64_t kLeastHoldNs = 5'000'000'000;
  // At least, if the filter has another reason: a request may fail late.
  static constexpr std::uint64_t kHoldForReasonNs = 30'000'000'000;

  // Counts a span of this epoch (its low half) that these captures do not get.
  using CountMissed = std::function<void(std::uint16_t, CaptureBits, CaptureBooks::Outcome)>;

  HeldTraces(TakenSpans& taken, CountMissed count) : taken_(taken), count_(std::move(count)) {}

  // Takes an ended span. Decides about what is held if its trace is wanted; without a set nothing
  // is held.
  void take(const CapturedSpan& span, Fates fates, const CaptureSet* set, std::uint64_t now_ns);

  // A transaction of this trace was slow here. Other processes are told, unless no trace crosses.
  void want(std::uint64_t trace_low, CaptureBits bits, const CaptureSet& set, std::uint64_t now_ns);

  // The same in another process.
  void want(const wire::WantedTrace& wanted, const CaptureSet& set, std::uint64_t now_ns);

  CaptureBits wanted(std::uint64_t trace_low, const CaptureSet& set) {
    return wanted_bits(wire::hash_of_trace(trace_low), set);
  }

  // Appends the traces to tell the agent, at most so many; they count as told.
  void take_news(const CaptureSet& set, std::size_t most, std::vector<wire::WantedTrace>& out);

  // Lets go what nobody has wanted in time, or what takes too much room.
  void expire(const CaptureSet& set, std::uint64_t now_ns);

  // The process ends: sends the newest ones, as many as the agent takes.
  void give_to_agent();

  void clear();

 private:
  struct Bits {
    CaptureBits bits = 0;
    CaptureSet::Epoch epoch = 0;

    CaptureBits valid(const CaptureSet& set) const {
      return set.valid_bits(bits, static_cast<std::uint16_t>(epoch));
    }
  };
  struct Gone : Bits {
    std::uint32_t spans = 0;
  };
  struct Wanted : Bits {
    CaptureBits told = 0;  // that the agent knows, of `bits`
  };
  CaptureBits wanted_bits(std::uint64_t hash, const CaptureSet& set);
  Wanted* add_wanted(std::uint64_t hash, CaptureBits bits, const CaptureSet& set,
                     std::uint64_t now_ns);
  CaptureBits admit(CaptureBits bits, const CaptureSet& set, std::uint64_t now_ns) const;
  void count_gone(std::uint64_t hash, CaptureBits wanted, const CaptureSet& set);
  void let_go(const TakenSpans::Record& record);

  TakenSpans& taken_;
  const CountMissed count_;
  // By the hash of the trace's id, also below.
  LastOnes<Wanted, 16'384> wanted_;
  LastOnes<Gone, 65'536> gone_;
  std::deque<std::pair<std::uint64_t, Bits>> news_;
};

}  // namespace pcp::trace::client
