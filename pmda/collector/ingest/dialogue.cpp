// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/dialogue.hpp"

#include <utility>

#include "base/escape.hpp"
#include "wire/legacy.hpp"

namespace pcp::trace::agent {

namespace {

using Ending = Dialogue::Ending;
using wire::ByeReason;
using wire::PduType;

Ending malformed(std::string why) { return {ByeReason::Malformed, std::move(why)}; }

std::string name_of(PduType type) {
  switch (type) {
    case PduType::Ack:
      return "ACK";
    case PduType::Data:
      return "DATA";
    case PduType::Hello:
      return "HELLO";
    case PduType::Welcome:
      return "WELCOME";
    case PduType::Tags:
      return "TAGS";
    case PduType::Batch:
      return "BATCH";
    case PduType::BatchAck:
      return "BATCHACK";
    case PduType::Bye:
      return "BYE";
    case PduType::Events:
      return "EVENTS";
    case PduType::Control:
      return "CONTROL";
    case PduType::EventsAck:
      return "EVENTSACK";
    case PduType::Wanted:
      return "WANTED";
  }
  return "a PDU of unknown type " + std::to_string(static_cast<std::uint32_t>(type));
}

std::size_t text_bytes(const wire::Hello& hello) {
  std::size_t bytes = hello.process.size() + hello.service.size();
  for (const auto& [name, value] : hello.labels) bytes += name.size() + value.size();
  return bytes;
}

}  // namespace

void Dialogue::greet(std::string& out) const {
  wire::append_ack(out, context_.pid, wire::kBatchVersion);
}

std::size_t Dialogue::max_pdu_bytes() const {
  return session_ == nullptr ? wire::kLeastMaxPduBytes : context_.options.max_pdu_bytes;
}

std::optional<Ending> Dialogue::on_frame(const wire::Frame& frame, Turn& turn, std::string& out) {
  tally(context_.shared.counters.pdus);
  const PduType type = frame.type;
  if (type == PduType::Data && speaks_ != Speaks::Version2) return on_data(frame, turn, out);
  if (type == PduType::Hello && speaks_ == Speaks::Nothing) return on_hello(frame, turn, out);
  if (speaks_ == Speaks::Version2) {
    if (type == PduType::Batch) return on_batch(frame, turn, out);
    if (type == PduType::Events) return on_events(frame, turn, out);
    if (type == PduType::Tags) return on_tags(frame, turn);
    if (type == PduType::Bye) return on_bye(frame, turn);
    return malformed(name_of(type) + " where TAGS, BATCH, EVENTS or BYE is expected");
  }
  return malformed(name_of(type) + (speaks_ == Speaks::Nothing ? " where DATA or HELLO is expected"
                                                               : " where DATA is expected"));
}

std::optional<Ending> Dialogue::on_data(const wire::Frame& frame, Turn& turn, std::string& out) {
  const auto data = wire::decode_data(frame.payload);
  if (!data) return malformed("a malformed DATA PDU");
  if (speaks_ == Speaks::Nothing)
    split_.begin(context_.options.split, peer_.pid != 0 ? peer_.pid : frame.pid);
  speaks_ = Speaks::Version1;
  Engine& engine = turn.engine();
  const TagIndex tag = engine.tag(data->type, context_.tag_finder.split(split_, data->tag));
  engine.note_origin(tag, nullptr);
  engine.apply_value(tag, data->value, turn.now());
  tally(context_.shared.counters.records);
  if (data->wants_ack) wire::append_ack(out, context_.pid, static_cast<std::int32_t>(data->type));
  return {};
}

std::optional<Ending> Dialogue::on_hello(const wire::Frame& frame, Turn& turn, std::string& out) {
  const auto hello = wire::decode_hello(frame.payload);
  if (!hello) return malformed("a malformed HELLO");
  speaks_ = Speaks::Version2;
  const IngestOptions& options = context_.options;
  if (text_bytes(*hello) > options.max_label_bytes)
    return Ending{ByeReason::TooMuch, "names and labels of " + std::to_string(text_bytes(*hello)) +
                                          " bytes, at most " +
                                          std::to_string(options.max_label_bytes) + " are allowed"};

  const std::string user = peer_.owner();
  const bool known = take_over(user, hello->session, turn);
  if (!known) session_ = context_.sessions.open(user, hello->session, peer_.number, turn);
  if (session_ == nullptr)
    return Ending{ByeReason::QuotaExceeded, "its user has " +
                                                std::to_string(options.max_sessions_per_user) +
                                                " sessions, which is the limit"};
  // As much as is ever shown, and one more byte to mark a cut.
  process_ = hello->process.substr(0, kMaxShownBytes + 1);
  const std::uint32_t pid = peer_.pid != 0 ? peer_.pid : hello->pid;
  session_->pid = pid;
  session_->is_pid_certain = peer_.pid != 0;
  session_->origin = context_.origins.make(*hello, user, pid);
  session_->split.begin(options.split, pid, *hello);
  context_.spans.introduce(*session_, *hello, peer_);
  show_client(pid, turn);

  wire::Welcome welcome;
  welcome.agent_instance = context_.agent_instance;
  welcome.session_known = known;
  welcome.last_sequence = session_->last_sequence;
  welcome.max_pdu_bytes = options.max_pdu_bytes;
  welcome.max_tags = options.max_tags_per_session;
  welcome.features.set(number_of(wire::Feature::InFlight));
  welcome.features.set(number_of(wire::Feature::Events));
  welcome.features.set(number_of(wire::Feature::Wanted));
  if (peer_.uid != kUnknownUid) welcome.features.set(number_of(wire::Feature::BlackBox));
  welcome.last_events = session_->spans.last_events;
  welcome.control = context_.spans.control_for(*session_, peer_);
  wire::append_welcome(out, context_.pid, welcome);
  context_.spans.append_wanted(out, context_.pid, *session_, peer_);
  return {};
}

// Resumes a known session. A connection that still has the session is closed.
bool Dialogue::take_over(const std::string& user, const wire::SessionId& id, Turn& turn) {
  session_ = context_.sessions.find(user, id);
  if (session_ == nullptr) return false;
  turn.end();  // the other dialogue's close() takes its own turn
  if (session_->connection != 0) context_.end_connection(session_->connection);
  context_.sessions.attach(*session_, peer_.number);
  return true;
}

void Dialogue::show_client(std::uint32_t pid, Turn& turn) {
  ClientView view;
  view.pid = pid;
  view.uid = peer_.uid;
  view.gid = peer_.gid;
  view.process = process_;
  view.origin = session_->origin;
  auto& clients = turn.clients();
  view.connected_at = turn.now();
  clients[peer_.number] = std::move(view);
}

std::optional<Ending> Dialogue::on_tags(const wire::Frame& frame, Turn& turn) {
  auto& definitions = context_.definitions;
  if (!wire::decode_tags(frame.payload, definitions)) return malformed("a malformed TAGS");
  for (const wire::TagDefinition& definition : definitions) {
    switch (context_.sessions.define(*session_, definition.id, definition.name)) {
      case SessionTable::Defined::Yes:
        describe(definition, turn);
        break;
      case SessionTable::Defined::OtherName:
        return malformed("TAGS that give id " + std::to_string(definition.id) + " a second name");
      case SessionTable::Defined::TooMany:
        return Ending{ByeReason::TooMuch,
                      "too many tags: the limits are " +
                          std::to_string(context_.options.max_tags_per_session) +
                          " for a session and " +
                          std::to_string(context_.options.max_tags_per_user) + " for a user"};
    }
  }
  return {};
}

// Types that have values are described now, others with their first values.
void Dialogue::describe(const wire::TagDefinition& definition, Turn& turn) {
  if (definition.unit.empty() && definition.description.empty()) return;
  SessionTag& tag = *session_->tags.find(definition.id);
  if (tag.description != nullptr) return;
  tag.description =
      context_.origins.describe(definition.unit, definition.description, session_->user->name);
  Engine& engine = turn.engine();
  if (tag.description == nullptr || tag.life != engine.life()) return;
  bool agrees = true;
  for (const TagIndex index : tag.in_engine)
    if (index != SessionTag::kUnknown) agrees &= engine.describe(index, tag.description);
  if (!agrees) say_disagreement(tag, turn);
}

void Dialogue::say_disagreement(const SessionTag& tag, Turn& turn) {
  turn.end();
  context_.log.say(peer_, "describes \"" + for_log(tag.name) +
                              "\" differently from an earlier program, whose description stays");
}

std::optional<Ending> Dialogue::on_batch(const wire::Frame& frame, Turn& turn, std::string& out) {
  wire::Batch& batch = context_.batch;
  if (!wire::decode_batch(frame.payload, batch)) return malformed("a malformed BATCH");
  // No entry is applied before all entries are checked.
  const auto undefined = [](std::uint32_t id) {
    return malformed("a BATCH with tag id " + std::to_string(id) + ", which no TAGS has defined");
  };
  context_.tags.clear();
  for (const wire::DeltaEntry& entry : batch.entries) {
    SessionTag* tag = session_->tags.find(entry.tag_id);
    if (tag == nullptr) return undefined(entry.tag_id);
    context_.tags.push_back(tag);
  }
  for (const wire::OpenCount& said : batch.in_flight)
    if (session_->tags.find(said.tag_id) == nullptr) return undefined(said.tag_id);

  IngestCounters& counters = context_.shared.counters;
  tally(counters.batches);
  if (batch.counters.folded != wire::Folded::None && !std::exchange(session_->may_fold, true))
    tally(counters.folding);
  if (batch.sequence > session_->last_sequence) {
    // First, so that nothing counts twice: if memory runs out in the middle, the connection ends,
    // and what is left of the batch does not count when the process sends it again.
    session_->last_sequence = batch.sequence;
    for (std::size_t i = 0; i < batch.entries.size(); ++i)
      apply(batch.entries[i], *context_.tags[i], turn);
  } else {
    tally(counters.duplicates);
  }
  // Counts in flight describe the present, not the deltas' time.
  context_.sessions.in_flight().apply(*session_, batch, turn,
                                      [&](const SessionTag& tag) { say_disagreement(tag, turn); });
  turn.clients()[peer_.number].counters = batch.counters;
  wire::append_batch_ack(out, context_.pid, batch.sequence);
  return {};
}

void Dialogue::apply(const wire::DeltaEntry& entry, SessionTag& tag, Turn& turn) {
  Engine& engine = turn.engine();
  bool disagrees = false;
  const TagIndex index = context_.tag_finder.find(engine, *session_, tag, entry.type, disagrees);
  const wire::BatchAge& age = context_.batch.age;
  if (entry.is_added)
    engine.apply_increments(index, entry.delta, age, turn.now());
  else
    engine.apply(index, entry.delta, entry.histogram, age, turn.now());
  engine.apply_failures(index, entry.failed, entry.failed_histogram, age, turn.now());
  tally(context_.shared.counters.records, entry.delta.count + entry.failed.count);
  if (disagrees) [[unlikely]]
    say_disagreement(tag, turn);
}

// Spans do not concern the engine.
std::optional<Ending> Dialogue::on_events(const wire::Frame& frame, Turn& turn, std::string& out) {
  turn.end();
  wire::Events& events = context_.events;
  if (!wire::decode_events(frame.payload, events)) return malformed("a malformed EVENTS");
  for (const wire::Span& span : events.spans)
    if (session_->tags.find(span.tag_id) == nullptr)
      return malformed("EVENTS with tag id " + std::to_string(span.tag_id) +
                       ", which no TAGS has defined");
  if (const auto wrong = context_.spans.accept(events, *session_, peer_))
    return malformed("EVENTS " + *wrong);
  wire::append_events_ack(out, context_.pid, events.sequence);
  return {};
}

bool Dialogue::append_control(std::string& out) {
  if (session_ == nullptr) return false;
  const std::size_t before = out.size();
  const auto control = context_.spans.news_for(*session_, peer_);
  if (control) wire::append_control(out, context_.pid, *control);
  context_.spans.append_wanted(out, context_.pid, *session_, peer_);
  return out.size() > before;
}

std::optional<Ending> Dialogue::on_bye(const wire::Frame& frame, Turn& turn) {
  const auto reason = wire::decode_bye(frame.payload);
  if (!reason) return malformed("a malformed BYE");
  if (*reason == ByeReason::Done) {
    context_.sessions.forget(*session_, turn);
    session_ = nullptr;
  }
  return Ending{};
}

void Dialogue::close(Instant now) {
  if (speaks_ != Speaks::Version2) return;
  Turn turn(context_.shared);
  if (session_ != nullptr) {
    SpanIntake::detach(*session_);
    context_.sessions.detach(*session_, now, turn);
  }
  session_ = nullptr;
  turn.clients().erase(peer_.number);
}

void Dialogue::bye(std::string& out, ByeReason reason) const {
  if (speaks_ == Speaks::Version2) wire::append_bye(out, context_.pid, reason);
}

std::string Dialogue::describe() const {
  switch (speaks_) {
    case Speaks::Nothing:
      return "has sent nothing yet";
    case Speaks::Version1:
      return "version 1";
    case Speaks::Version2:
      break;
  }
  return "version 2, \"" + for_log(process_) + "\"" +
         (session_ == nullptr ? std::string()
                              : ", " + std::to_string(session_->tags.size()) + " tags, batch " +
                                    std::to_string(session_->last_sequence));
}

}  // namespace pcp::trace::agent
