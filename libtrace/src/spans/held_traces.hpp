// SPDX-License-Identifier: LGPL-2.1-or-later
// Which traces are wanted whole by filters with slower=, and the ended spans of traces that cross
// processes and that nobody wants yet.
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
#include <unordered_map>
#include <utility>
#include <vector>

#include "spans/capture_books.hpp"
#include "spans/last_ones.hpp"
#include "spans/span_pool.hpp"
#include "wire/events.hpp"

namespace pcp::trace::client {

// Takes a span, with the bits of this outcome. Sent: to be sent. Must not throw.
using Decide = std::function<void(CapturedSpan&&, CaptureBooks::Outcome)>;

// Decides about a span's part for these captures. A span without other bits is then empty.
void decide_part(const Decide& decide, CapturedSpan& span, CaptureBits bits,
                 CaptureBooks::Outcome outcome);

class HeldTraces {
 public:
  // Beside the slower= of the filter.
  static constexpr std::uint64_t kLeastHoldNs = 5'000'000'000;
  // At least, if the filter has another reason: a request may fail late.
  static constexpr std::uint64_t kHoldForReasonNs = 30'000'000'000;

  HeldTraces(std::size_t most_bytes, Decide decide)
      : most_bytes_(most_bytes), decide_(std::move(decide)) {}

  // Holds an ended span, or decides about it if its trace is wanted.
  void hold(CapturedSpan&& span, const CaptureSet& set, std::uint64_t now_ns);

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
  void give_to_agent(const std::function<void(CapturedSpan&&)>& send);

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
  // Spans of a trace that came at about the same time.
  struct Held {
    std::uint64_t since_ns = 0;
    std::size_t bytes = 0;
    std::vector<CapturedSpan> spans{};
  };
  using AllHeld = std::unordered_multimap<std::uint64_t, Held>;

  CaptureBits wanted_bits(std::uint64_t hash, const CaptureSet& set);
  Wanted* add_wanted(std::uint64_t hash, CaptureBits bits, const CaptureSet& set,
                     std::uint64_t now_ns);
  void decide_held(AllHeld::iterator which, CaptureBits wanted, const CaptureSet& set,
                   std::uint64_t now_ns);
  void decide(CapturedSpan& span, CaptureBits wanted, const CaptureSet& set, std::uint64_t now_ns);
  void count_gone(std::uint64_t hash, CaptureBits wanted, const CaptureSet& set);
  AllHeld::iterator find_held(std::uint64_t hash, std::uint64_t since_ns);
  void let_go_oldest();
  void drop_held();

  const std::size_t most_bytes_;
  const Decide decide_;
  // By the hash of the trace's id, also below.
  AllHeld held_;
  std::deque<std::pair<std::uint64_t, std::uint64_t>> in_order_;  // since when, and which
  std::size_t bytes_ = 0;                                         // in held_
  LastOnes<Wanted, 16'384> wanted_;
  LastOnes<Gone, 65'536> gone_;
  std::deque<std::pair<std::uint64_t, Bits>> news_;
};

}  // namespace pcp::trace::client
