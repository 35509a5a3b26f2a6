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
// A held span is encoded, in a ring of bytes, without what may change before the span is sent.
//
// Nothing here throws. Without memory a span counts as missed, and a wanted trace is forgotten.
//
// Thread: the flusher's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spans/capture_books.hpp"
#include "spans/last_ones.hpp"
#include "spans/span_pool.hpp"
#include "spans/span_ring.hpp"
#include "wire/events.hpp"

namespace pcp::trace::client {

// Takes a span, with the bits of this outcome. Sent: to be sent. Must not throw. `fields`: of a
// span that was held, what it lacks.
using Decide = std::function<void(CapturedSpan&&, CaptureBooks::Outcome, std::string_view fields)>;

// Decides about a span's part for these captures. A span without other bits is then empty.
void decide_part(const Decide& decide, CapturedSpan& span, CaptureBits bits,
                 CaptureBooks::Outcome outcome, std::string_view fields = {});

// The fields that may change before a span is sent, or that find it.
wire::Span changing_part(const CapturedSpan& span);
// Adds the rest. `wall_minus_monotonic`: of the clocks. Throws if there is no memory.
void add_lasting_part(const CapturedSpan& span, std::int64_t wall_minus_monotonic, wire::Span& out);

class HeldTraces {
 public:
  // Beside the slower= of the filter.
  static constexpr std::uint64_t kLeastHoldNs = 5'000'000'000;
  // At least, if the filter has another reason: a request may fail late.
  static constexpr std::uint64_t kHoldForReasonNs = 30'000'000'000;

  HeldTraces(std::size_t most_bytes, Decide decide)
      : decide_(std::move(decide)), ring_(most_bytes) {}

  // Holds an ended span, or decides about it if its trace is wanted.
  void hold(CapturedSpan&& span, const CaptureSet& set, std::uint64_t now_ns,
            std::int64_t wall_minus_monotonic);

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

  // The process ends: hands the newest ones out as `sent`, as far as the agent takes them.
  void give_to_agent(const CaptureSet& set);

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
  void decide(CapturedSpan& span, CaptureBits wanted, const CaptureSet& set, std::uint64_t now_ns,
              std::string_view fields = {});
  CapturedSpan span_of(const SpanRing::Record& record, const CaptureSet& set) const;
  void count_gone(std::uint64_t hash, CaptureBits wanted, const CaptureSet& set);
  void let_go_oldest();
  void drop_held();

  const Decide decide_;
  SpanRing ring_;
  std::vector<const Tag*> tags_;  // of the ring's spans, by their ids
  std::string fields_;            // of the span that is held now
  // By the hash of the trace's id, also below.
  LastOnes<Wanted, 16'384> wanted_;
  LastOnes<Gone, 65'536> gone_;
  std::deque<std::pair<std::uint64_t, Bits>> news_;
};

}  // namespace pcp::trace::client
