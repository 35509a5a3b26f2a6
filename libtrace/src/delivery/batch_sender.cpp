// SPDX-License-Identifier: LGPL-2.1-or-later
#include "delivery/batch_sender.hpp"

#include <sys/random.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "delivery/diagnostics.hpp"
#include "record/description.hpp"
#include "wire/steady_clock.hpp"

namespace pcp::trace::client {
namespace {

// Every agent takes this size: a batch may be resent to an agent with a lower limit. Large enough
// for a thousand tags.
constexpr std::size_t kMaxBodyBytes = wire::kLeastMaxPduBytes - wire::kBatchOverheadBytes;

// A later answer means that the agent did not read for a while.
constexpr std::uint64_t kLateNs = 500'000'000;

wire::Hello introduce(const Options& options) {
  wire::Hello hello;
  if (::getrandom(hello.session.data(), hello.session.size(), GRND_NONBLOCK) !=
      static_cast<ssize_t>(hello.session.size())) {
    // Early in the boot there is no randomness. A session only has to be unique.
    const std::uint64_t now = now_ns();
    std::copy_n(reinterpret_cast<const std::uint8_t*>(&now), sizeof now, hello.session.begin());
    const std::uint32_t pid = own_pid();
    std::copy_n(reinterpret_cast<const std::uint8_t*>(&pid), sizeof pid, hello.session.begin() + 8);
  }
  hello.pid = own_pid();
  hello.process = options.process;
  hello.service = options.service;
  hello.labels = options.labels;
  hello.start_time_ns = static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
  return hello;
}

// Encodes an entry so that it fits: an extremely wide histogram is coarsened, and at last dropped.
// A mention is only a tag.
void append_entry(std::string& body, Pending::Entry& entry, std::size_t max_bytes) {
  if (entry.records() == 0) return;
  if (entry.is_added()) return wire::append_increments(body, entry.tag->id, entry.delta);
  const std::size_t before = body.size();
  for (;;) {
    entry.delta.unbinned = has_histogram(entry.type())
                               ? entry.delta.count - entry.delta.nonfinite - entry.histogram.total()
                               : 0;
    wire::append_delta(body, entry.tag->id, entry.type(), entry.delta, entry.histogram);
    if (body.size() - before <= max_bytes || entry.histogram.empty()) return;
    body.resize(before);
    if (entry.histogram.coarseness() < Histogram::kMaxCoarseness)
      entry.histogram.coarsen();
    else
      entry.histogram.clear();
  }
}

}  // namespace

BatchSender::BatchSender(Transport& transport, Pending& pending, OpenReport& open,
                         SpanSender& spans, DeliveryCounters& counters, const Options& options,
                         CountersSource client_counters)
    : transport_(transport),
      pending_(pending),
      open_(open),
      spans_(spans),
      counters_(counters),
      client_counters_(std::move(client_counters)),
      hello_(introduce(options)) {}

void BatchSender::connected() {
  std::string out;
  wire::append_hello(out, own_pid(), hello_);
  diagnose_pdus("sent", out);
  transport_.send(out);
}

bool BatchSender::on_pdu(const wire::Frame& pdu, std::uint64_t now_ns) {
  switch (pdu.type) {
    case wire::PduType::Welcome:
      if (const auto welcome = wire::decode_welcome(pdu.payload))
        return take_welcome(*welcome, now_ns);
      return false;
    case wire::PduType::BatchAck:
      if (const auto sequence = wire::decode_batch_ack(pdu.payload))
        return take_ack(*sequence, now_ns);
      return false;
    case wire::PduType::Control:
      if (const auto control = wire::decode_control(pdu.payload)) {
        if (agent_has(wire::Feature::Events)) spans_.take_control(*control);
        return true;
      }
      return false;
    case wire::PduType::EventsAck:
      if (const auto sequence = wire::decode_events_ack(pdu.payload))
        return spans_.take_ack(*sequence);
      return false;
    case wire::PduType::Bye:
      if (wire::decode_bye(pdu.payload) == wire::ByeReason::Malformed) give_up_first();
      return false;  // the agent leaves: hang up, too
    default:
      return true;
  }
}

bool BatchSender::take_welcome(const wire::Welcome& welcome, std::uint64_t now_ns) {
  if (welcomed_ || welcome.max_pdu_bytes < wire::kLeastMaxPduBytes) return false;
  welcomed_ = true;
  features_ = welcome.features;
  defined_.clear();
  open_.begin_anew();

  const bool same_agent = agent_ == welcome.agent_instance;
  const bool forgot = same_agent && has_forgotten(welcome);
  agent_ = welcome.agent_instance;
  if (!same_agent || forgot) last_acknowledged_ = 0;
  if (forgot) {
    for (const Batch& batch : in_flight_) counters_.uncertain += batch.records;
    in_flight_.clear();
  } else if (same_agent && !take_ack(welcome.last_sequence, now_ns)) {
    return false;
  }
  using Agent = SpanSender::Agent;
  const Agent agent = !same_agent ? Agent::Another : forgot ? Agent::SameThatForgot : Agent::Same;
  if (!welcome_spans(welcome, agent)) return false;
  for (Batch& batch : in_flight_) send(batch, now_ns);
  return true;
}

// True also if the agent knows the session, but not what it acknowledged: then it lost the session,
// and a HELLO whose WELCOME was lost has opened it again.
bool BatchSender::has_forgotten(const wire::Welcome& welcome) const {
  return !welcome.session_known || welcome.last_sequence < last_acknowledged_ ||
         welcome.last_events < spans_.last_taken();
}

bool BatchSender::welcome_spans(const wire::Welcome& welcome, SpanSender::Agent agent) {
  spans_sent_ = 0;
  if (!agent_has(wire::Feature::Events)) {
    spans_.welcomed_without();
    return true;
  }
  return spans_.welcomed(agent, welcome.last_events, welcome.control);
}

void BatchSender::disconnected() {
  welcomed_ = has_said_goodbye_ = false;
  spans_.disconnected(now_ns());
}

bool BatchSender::take_ack(std::uint64_t sequence, std::uint64_t now_ns) {
  if (sequence >= next_sequence_) return false;
  last_acknowledged_ = std::max(last_acknowledged_, sequence);
  while (!in_flight_.empty() && in_flight_.front().sequence <= sequence) {
    if (now_ns > in_flight_.front().sent_ns + kLateNs) open_.tell_again();
    counters_.acknowledged += in_flight_.front().records;
    in_flight_.pop_front();
  }
  return true;
}

// The agent cannot decode a batch: the first one that it has not acknowledged. It would refuse that
// batch on every connection, so the batch is dropped.
void BatchSender::give_up_first() {
  if (in_flight_.empty()) return;
  const std::uint64_t calls = in_flight_.front().records;
  counters_.uncertain += calls;
  in_flight_.pop_front();
  static bool is_said = false;  // the flusher's
  if (!std::exchange(is_said, true))
    print_line("the agent calls a batch of " + std::to_string(calls) +
               " calls malformed: they are counted as uncertain, and not sent again. Please report"
               " this as a bug.");
}

void BatchSender::send_pending(std::uint64_t until, std::uint64_t now_ns) {
  if (has_said_goodbye_) return;  // the agent will hang up: later calls go to the next connection
  while (welcomed_ && in_flight_.size() < kMaxInFlight && pending_.popped() < until) {
    Batch& batch = add_batch();
    try {
      batch.body.reserve(last_body_bytes_);
      fill(batch, until);
    } catch (...) {
      if (batch.first_entry == pending_.popped()) in_flight_.pop_back();  // no entry has moved
      throw;
    }
    counters_.batches += 1;
    last_body_bytes_ = batch.body.size();
    send(batch, now_ns);
  }
  while (agent_has(wire::Feature::InFlight) && in_flight_.size() < kMaxInFlight &&
         open_.has_news()) {
    counters_.batches += 1;
    send(add_batch(), now_ns);
  }
  // Batches go first.
  if (agent_has(wire::Feature::Events) && in_flight_.size() < kMaxInFlight)
    if (const SpanSender::Pdu* const pdu = spans_.next()) send_spans(*pdu);
}

// Sends each PDU once on each connection.
void BatchSender::send_spans(const SpanSender::Pdu& pdu) {
  if (std::exchange(spans_sent_, pdu.sequence) == pdu.sequence) return;
  std::string out;
  define_tags(pdu.tags, out);
  wire::append_events(out, own_pid(), pdu.sequence, pdu.control, pdu.counts, pdu.body);
  diagnose_pdus("sent", out);
  transport_.send(out);
}

BatchSender::Batch& BatchSender::add_batch() {
  Batch& batch = in_flight_.emplace_back();
  batch.sequence = next_sequence_++;
  batch.first_entry = pending_.popped();
  return batch;
}

// Moves whole entries from Pending into the batch. An exception leaves both intact, and the entries
// in the batch are sent on the next connection.
void BatchSender::fill(Batch& batch, std::uint64_t until) {
  while (pending_.popped() < until && batch.tags.size() < kMaxTags) {
    Pending::Entry& entry = pending_.front();
    const std::size_t before = batch.body.size();
    batch.tags.push_back(entry.tag);
    try {
      append_entry(batch.body, entry, kMaxBodyBytes);
    } catch (...) {
      batch.body.resize(before);
      throw;
    }
    if (before > 0 && batch.body.size() > kMaxBodyBytes) {
      batch.body.resize(before);  // for the next batch
      return;
    }
    batch.records += entry.records();
    counters_.sent += entry.records();
    counters_.thinned += entry.delta.unbinned;
    counters_.aborted += entry.delta.aborts;
    if (entry.records() > 0) {
      batch.first_ns = std::min(batch.first_ns, entry.first_ns);
      batch.last_ns = std::max(batch.last_ns, entry.last_ns);
    }
    pending_.pop();
  }
}

void BatchSender::send(Batch& batch, std::uint64_t now_ns) {
  batch.sent_ns = now_ns;
  std::string out;
  define_tags(batch.tags, out);
  const auto age = [&](std::uint64_t then_ns) {
    return now_ns > then_ns && batch.records > 0 ? now_ns - then_ns : 0;
  };
  wire::BatchHead head{{age(batch.first_ns), age(batch.last_ns)}, client_counters_()};
  if (agent_has(wire::Feature::InFlight)) {
    const OpenReport::Told told =
        open_.tell(kMaxBodyBytes - std::min(batch.body.size(), kMaxBodyBytes));
    define_tags(told.tags, out);
    head.in_flight = told.in_flight;
    head.in_flight_anew = told.anew;
  }
  wire::append_batch(out, own_pid(), batch.sequence, head, batch.body);
  diagnose_pdus("sent", out);
  transport_.send(out);
}

// A tag that was described after its definition is defined again.
void BatchSender::define_tags(const std::vector<const Tag*>& tags, std::string& out) {
  std::vector<wire::TagDefinition> definitions;
  constexpr std::size_t kAroundDefinition = 24;
  constexpr std::size_t kMostOfDefinition =
      kMaxTagLength + wire::kMaxUnitLength + wire::kMaxDescriptionLength + kAroundDefinition;
  std::size_t bytes = 0;
  const auto flush = [&] {
    if (!definitions.empty()) wire::append_tags(out, own_pid(), definitions);
    definitions.clear();
    bytes = 0;
  };
  for (const Tag* tag : tags) {
    if (tag->id >= defined_.size()) defined_.resize(tag->id + 1);
    const Description* const description = description_of(*tag);
    const Defined wanted = description != nullptr ? Defined::WithDescription : Defined::ByName;
    if (defined_[tag->id] >= wanted) continue;
    defined_[tag->id] = wanted;
    auto& definition = definitions.emplace_back(wire::TagDefinition{tag->id, name_of(*tag)});
    if (description != nullptr) {
      definition.unit = description->unit;
      definition.description = description->text;
    }
    bytes +=
        tag->length + definition.unit.size() + definition.description.size() + kAroundDefinition;
    if (bytes > kMaxBodyBytes - kMostOfDefinition) flush();
  }
  flush();
}

bool BatchSender::say_goodbye() {
  if (!welcomed_ || has_said_goodbye_) return false;
  if (agent_has(wire::Feature::InFlight) && open_.has_news()) return false;  // tell it first
  has_said_goodbye_ = true;
  std::string out;
  wire::append_bye(out, own_pid(), wire::ByeReason::Done);
  diagnose_pdus("sent", out);
  transport_.send(out);
  return true;
}

}  // namespace pcp::trace::client
