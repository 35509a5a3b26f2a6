// SPDX-License-Identifier: LGPL-2.1-or-later
// Sends captured spans: takes the agent's CONTROL, publishes the set of captures to the program's
// threads, and packs spans into EVENTS. One of these is in flight at a time. Other spans wait in
// the pool; a full pool drops and counts.
//
// Each captured span is sent, or counted as missed (CaptureBooks). Spans for filters with slower=
// wait until decided, and are counted then. If memory runs out, at any point, a span stays where it
// is, or counts as missed.
//
// A broken connection ends no capture at once, since the agent may come back with the same
// captures. After ten seconds capturing ends, and waiting spans count as missed.
//
// Thread: the flusher's.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "link/client_options.hpp"
#include "link/sequenced.hpp"
#include "spans/capture_books.hpp"
#include "spans/held_traces.hpp"
#include "spans/slow_spans.hpp"
#include "spans/taken_spans.hpp"
#include "thread/recorders.hpp"
#include "wire/events.hpp"

namespace pcp::trace::client {

// Captures by PCP_TRACE_CAPTURE from the first call on, until the first agent tells whether it asks
// for the same filter. Thread: any, before the flusher exists.
void capture_from_start(Recorders& recorders, const ClientOptions& options);

// Spans of one set of captures, and the counts that changed.
struct SpanBatch : Numbered {
  std::uint64_t control = 0;
  std::vector<wire::CaptureCount> counts;
  std::vector<wire::WantedTrace> wanted;
  std::string body;
  std::vector<const Tag*> tags;
  std::vector<TakenSpans::Place> places;  // of the spans
  CaptureBooks::SpanCounts spans_at{};
};

class SpanSender {
 public:
  SpanSender(Recorders& recorders, const ClientOptions& options);

  // WELCOME of an agent that takes spans: `last_sequence` is its last EVENTS, `asked` are its
  // captures, and `relays`: it tells processes which traces others want. False if it claims EVENTS
  // that were never sent.
  bool on_welcome(AgentChange agent, std::uint64_t last_sequence,
                  const std::optional<wire::Control>& asked, bool relays = false);

  // WELCOME of an agent that takes no spans.
  void on_welcome_without();

  void on_disconnected(std::uint64_t now_ns);

  void on_control(const wire::Control& control);
  void on_wanted(const std::vector<wire::WantedTrace>& wanted);

  // False if no such EVENTS were sent.
  bool on_ack(std::uint64_t sequence);

  // The agent cannot decode the spans in flight, and would refuse them on every connection.
  void give_up_in_flight();

  // Call this periodically.
  void tick(std::uint64_t now_ns);

  // An open transaction may become slow: look again soon.
  bool is_watching() const { return is_watching_; }

  // Decides about spans that threads handed over for filters with slower=.
  void sort(std::uint64_t now_ns);

  // The process ends: gives the agent spans that nobody wants yet, as many as it takes.
  void give_undecided();

  // The spans to send now, perhaps again; null: none.
  SpanBatch* next();
  const SpanBatch* in_flight() const { return in_flight_.empty() ? nullptr : &in_flight_.front(); }

  // Spans captured so far. has_settled(): the first `captured` of them need no more waiting.
  std::uint64_t captured() const { return recorders_.spans_handed_over(); }
  bool has_settled(std::uint64_t captured) const;
  // EVENTS taken by agents.
  std::uint64_t acknowledged() const { return acknowledged_; }
  // For an agent; made with the first captures.
  OwnDescriptor& black_box() { return box_.descriptor(); }
  // The last EVENTS that this agent has taken, in the session it knows.
  std::uint64_t last_taken() const { return in_flight_.last_taken(); }
  bool has_settled_all() const { return has_settled(captured()) && recorders_.spans_in_use() == 0; }

 private:
  const CaptureSet* published() const { return captures_.published(); }
  void adopt_start(const wire::Control& control);
  void publish(std::unique_ptr<CaptureSet> set);
  void retire();
  void forget_all();
  void count_what_waits_as_away();
  void settle(SpanPool::Index list, std::uint64_t now_ns);
  void sort(std::uint64_t now_ns, std::size_t most_ready);
  bool find_ready(std::uint64_t until, TakenSpans::Ready& next);
  void drop_undecided();
  void drop_what_waits();
  void set_wall_clock();
  void fill(SpanBatch& batch);
  void append(const TakenSpans::Ready& ready, SpanBatch& batch);

  Recorders& recorders_;
  BlackBox& box_;
  SpanPool& pool_;
  PublishedCaptures& captures_;
  const std::string service_;
  const std::string process_;
  const std::string from_start_;  // PCP_TRACE_CAPTURE
  const std::size_t hold_bytes_;
  bool waits_for_first_agent_ = false;

  CaptureBooks books_;
  std::uint64_t handed_over_ = 0;  // spans that were, and were taken
  TakenSpans taken_;
  HeldTraces held_;
  SlowSpans slow_;
  bool relays_ = true;  // the agent; not known before it is
  bool is_watching_ = false;
  Sequenced<SpanBatch, 1> in_flight_;
  std::uint64_t acknowledged_ = 0;
  bool is_connected_ = false;
  std::uint64_t away_since_ns_ = 0;
  std::int64_t wall_minus_monotonic_ = 0;
};

}  // namespace pcp::trace::client
