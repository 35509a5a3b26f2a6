// SPDX-License-Identifier: LGPL-2.1-or-later
// What is captured for the agent: takes its CONTROL, publishes the set of captures to the program's
// threads, and makes PDUs of the spans that these leave in their queue. One PDU is on its way at a
// time; the rest waits in the queue, and what finds that full is counted.
//
// Each span of a capture is sent, or counted as missed: CaptureBooks. What a filter with slower=
// may want is held until that is known, and counted then.
//
// A connection that breaks ends no capture at once, since the agent may be back with the same ones;
// after ten seconds nothing is captured any more, and what waits is counted as missed.
//
// Thread: the flusher's.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "delivery/capture_books.hpp"
#include "delivery/held_spans.hpp"
#include "delivery/options.hpp"
#include "record/recorders.hpp"
#include "wire/events.hpp"

namespace pcp::trace::client {

// Captures what PCP_TRACE_CAPTURE says, from the first call on, until the first agent asks for the
// same or does not. Thread: any, before there is a flusher.
void capture_from_start(Captures& captures, const Options& options);

class SpanSender {
 public:
  SpanSender(Recorders& recorders, const Options& options);

  // The agent has said welcome: one that takes spans, and remembers the last PDU before this
  // number; the same one as before, or not; what it asks for, if it asks for anything. False if it
  // makes no sense.
  enum class Agent { Another, SameThatForgot, Same };
  bool welcomed(Agent agent, std::uint64_t last_sequence,
                const std::optional<wire::Control>& asked);

  // An agent that takes none.
  void welcomed_without();

  void disconnected(std::uint64_t now_ns);

  void take_control(const wire::Control& control);

  // False if there was no such PDU.
  bool take_ack(std::uint64_t sequence);

  // To be called now and then.
  void look(std::uint64_t now_ns);

  // Holds what threads have captured for filters with slower=, which makes room in their queue.
  void sort(std::uint64_t now_ns);

  // The process ends: what is still held is given up, and counted.
  void end();

  // What may be sent now; null if nothing.
  struct Pdu {
    std::uint64_t sequence = 0;
    std::uint64_t control = 0;
    std::vector<wire::CaptureCount> counts;
    std::string body;
    std::vector<const Tag*> tags;
    std::uint64_t spans = 0;
    CaptureBooks::Numbers spans_at{};
  };
  const Pdu* next();

  // Spans that threads have captured so far. Whether nobody has to wait any more for so many of
  // them.
  std::uint64_t captured() const { return taken_ + queue_.waiting(); }
  bool has_settled(std::uint64_t captured) const;
  // PDUs that the agent has taken.
  std::uint64_t acknowledged() const { return acknowledged_; }
  // The sequence of the last one that this agent has taken, as far as it knows our session.
  std::uint64_t last_taken() const { return last_taken_; }
  bool has_settled_all() const {
    return has_settled(captured()) && held_.empty() && !recorders_.any_ended_inside();
  }

 private:
  using Held = HeldSpans::Held;

  const CaptureSet* published() const { return captures_.published(); }
  void adopt_start(const wire::Control& control);
  void publish(std::unique_ptr<CaptureSet> set);
  void forget_all();
  void count_what_waits_as_away();
  Places unchanged_places(const CaptureSet* set) const;
  void route(const CapturedSpan& span, std::uint64_t now_ns);
  void carry_out(HeldSpans::Decisions decisions);
  void take_what_ended_inside(std::uint64_t now_ns);
  void sort(std::uint64_t now_ns, std::size_t most_ready);
  bool take(Held& next, std::uint64_t until);
  void drop_what_waits();
  void note_taken();
  void set_wall_clock();
  void fill();
  void append(const Held& held);

  Recorders& recorders_;
  SpanQueue& queue_;
  Captures& captures_;
  const std::string service_;
  const std::string process_;
  const std::string from_start_;  // what PCP_TRACE_CAPTURE says
  bool waits_for_first_agent_ = false;

  CaptureBooks books_;
  std::uint64_t taken_ = 0;  // out of the queue
  HeldSpans held_;
  std::deque<Held> ready_;  // taken, and to be sent
  Pdu pdu_;
  bool is_on_its_way_ = false;
  std::uint64_t last_sequence_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t last_taken_ = 0;
  bool is_connected_ = false;
  std::uint64_t away_since_ns_ = 0;
  std::int64_t wall_minus_monotonic_ = 0;
};

}  // namespace pcp::trace::client
