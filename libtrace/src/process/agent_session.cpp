// SPDX-License-Identifier: LGPL-2.1-or-later
#include "process/agent_session.hpp"

#include <sys/random.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "tags/description.hpp"

namespace pcp::trace::client {
namespace {

// A later answer means that the agent did not read for a while.
constexpr std::uint64_t kLateNs = 500'000'000;

wire::Hello introduce(const ClientOptions& options) {
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
  return hello;
}

}  // namespace

AgentSession::AgentSession(Outbox& outbox, const ClientOptions& options)
    : outbox_(outbox), batches_(outbox.pending, outbox.counters), hello_(introduce(options)) {}

void AgentSession::on_connected(std::string& out) {
  sent_before_ = sent_;
  wire::append_hello(out, own_pid(), hello_);
}

void AgentSession::on_disconnected(std::uint64_t now_ns) {
  welcomed_ = has_said_goodbye_ = has_passed_box_ = false;
  outbox_.spans.on_disconnected(now_ns);
}

bool AgentSession::on_pdu(const wire::Frame& pdu, std::uint64_t now_ns, std::string& out) {
  switch (pdu.type) {
    case wire::PduType::Welcome:
      if (const auto welcome = wire::decode_welcome(pdu.payload))
        return on_welcome(*welcome, now_ns, out);
      return false;
    case wire::PduType::BatchAck:
      if (const auto sequence = wire::decode_batch_ack(pdu.payload))
        return on_batch_ack(*sequence, now_ns);
      return false;
    case wire::PduType::EventsAck:
      if (const auto sequence = wire::decode_events_ack(pdu.payload))
        return outbox_.spans.on_ack(*sequence);
      return false;
    case wire::PduType::Control:
      if (const auto control = wire::decode_control(pdu.payload)) {
        if (has_feature(wire::Feature::Events)) outbox_.spans.on_control(*control);
        return true;
      }
      return false;
    case wire::PduType::Wanted:
      if (const auto wanted = wire::decode_wanted(pdu.payload)) {
        if (has_feature(wire::Feature::Wanted)) outbox_.spans.on_wanted(*wanted);
        return true;
      }
      return false;
    case wire::PduType::Bye:
      if (wire::decode_bye(pdu.payload) == wire::ByeReason::Malformed) give_up_malformed();
      return false;  // the agent leaves: hang up, too
    default:
      return true;
  }
}

bool AgentSession::on_welcome(const wire::Welcome& welcome, std::uint64_t now_ns,
                              std::string& out) {
  if (welcomed_ || welcome.max_pdu_bytes < wire::kLeastMaxPduBytes) return false;
  welcomed_ = true;
  features_ = welcome.features;
  defined_.clear();
  outbox_.open.begin_anew();

  const AgentChange agent = agent_ != welcome.agent_instance ? AgentChange::Another
                            : has_forgotten(welcome)         ? AgentChange::SameThatForgot
                                                             : AgentChange::Same;
  if (!batches_.on_welcome(agent, welcome.last_sequence)) return false;
  if (!has_feature(wire::Feature::Events))
    outbox_.spans.on_welcome_without();
  else if (!outbox_.spans.on_welcome(agent, welcome.last_events, welcome.control,
                                     has_feature(wire::Feature::Wanted)))
    return false;
  agent_ = welcome.agent_instance;  // not before: if a step fails, the next welcome repeats all
  for (CountBatch& batch : batches_.in_flight()) send(batch, now_ns, out);
  return true;
}

// True also if the agent knows the session, but not what it acknowledged: then it lost the session,
// and a HELLO whose WELCOME was lost has opened it again.
bool AgentSession::has_forgotten(const wire::Welcome& welcome) const {
  return !welcome.session_known || welcome.last_sequence < batches_.in_flight().last_taken() ||
         welcome.last_events < outbox_.spans.last_taken();
}

// If the agent read a batch late, it takes the transactions in flight for younger than they are.
bool AgentSession::on_batch_ack(std::uint64_t sequence, std::uint64_t now_ns) {
  for (const CountBatch& batch : batches_.in_flight())
    if (batch.sequence <= sequence && now_ns > batch.sent_ns + kLateNs) outbox_.open.tell_again();
  return batches_.on_ack(sequence);
}

// The agent answers in order, so the message that it cannot decode is the first one without an
// answer. It would refuse that message on every connection.
void AgentSession::give_up_malformed() {
  const SpanBatch* const spans = outbox_.spans.in_flight();
  const bool has_spans = spans != nullptr && was_sent(*spans);
  const bool has_calls = !batches_.in_flight().empty() && was_sent(batches_.in_flight().front());
  if (has_calls && (!has_spans || batches_.in_flight().front().nth_sent < spans->nth_sent))
    batches_.give_up_first();
  else if (has_spans)
    outbox_.spans.give_up_in_flight();
}

void AgentSession::send_pending(std::uint64_t until, std::uint64_t now_ns, std::string& out) {
  // After the goodbye the agent hangs up: later calls go to the next connection.
  if (!welcomed_ || has_said_goodbye_) return;
  while (CountBatch* const batch = batches_.next(until)) send_new(*batch, now_ns, out);
  while (has_feature(wire::Feature::InFlight) && batches_.in_flight().has_room() &&
         outbox_.open.has_news())
    send_new(batches_.add(), now_ns, out);
  // Batches go first.
  if (has_feature(wire::Feature::Events) && batches_.in_flight().has_room())
    if (SpanBatch* const spans = outbox_.spans.next(); spans != nullptr && !was_sent(*spans))
      send(*spans, out);
}

void AgentSession::send_new(CountBatch& batch, std::uint64_t now_ns, std::string& out) {
  outbox_.counters.batches += 1;
  send(batch, now_ns, out);
}

void AgentSession::send(CountBatch& batch, std::uint64_t now_ns, std::string& out) {
  batch.sent_ns = now_ns;
  batch.nth_sent = ++sent_;
  define_tags(batch.tags, out);
  const auto age = [&](std::uint64_t then_ns) {
    return now_ns > then_ns && batch.records > 0 ? now_ns - then_ns : 0;
  };
  wire::BatchHead head{{age(batch.first_ns), age(batch.last_ns)}, outbox_.client_counters()};
  if (has_feature(wire::Feature::InFlight)) {
    const OpenReport::Told told =
        outbox_.open.tell(wire::kMaxBatchBytes - std::min(batch.body.size(), wire::kMaxBatchBytes));
    define_tags(told.tags, out);
    head.in_flight = told.in_flight;
    head.in_flight_anew = told.anew;
  }
  wire::append_batch(out, own_pid(), batch.sequence, head, batch.body);
}

void AgentSession::send(SpanBatch& spans, std::string& out) {
  spans.nth_sent = ++sent_;
  define_tags(spans.tags, out);
  wire::append_events(out, own_pid(), spans.sequence, spans.control, spans.counts, spans.wanted,
                      spans.body);
}

// A tag that was described after its definition is defined again.
void AgentSession::define_tags(const std::vector<const Tag*>& tags, std::string& out) {
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
    const TagDescription* const description = description_of(*tag);
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
    if (bytes > wire::kMaxBatchBytes - kMostOfDefinition) flush();
  }
  flush();
}

const OwnDescriptor* AgentSession::box_to_pass() {
  const OwnDescriptor& box = outbox_.spans.black_box();
  if (has_passed_box_ || !has_feature(wire::Feature::BlackBox) || box.number() < 0) return nullptr;
  has_passed_box_ = true;
  return &box;
}

bool AgentSession::has_told_open() const {
  return welcomed_ && (!has_feature(wire::Feature::InFlight) ||
                       (!outbox_.open.has_news() && batches_.in_flight().empty()));
}

bool AgentSession::say_goodbye(std::string& out) {
  if (!welcomed_ || has_said_goodbye_) return false;
  // Transactions in flight are told first.
  if (has_feature(wire::Feature::InFlight) && outbox_.open.has_news()) return false;
  has_said_goodbye_ = true;
  wire::append_bye(out, own_pid(), wire::ByeReason::Done);
  return true;
}

}  // namespace pcp::trace::client
