// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wire/batch.hpp"
#include "wire/batch_fields.hpp"
#include "wire/events_fields.hpp"
#include "wire/message.hpp"

namespace pcp::trace::wire {

namespace {

void add_counters(Message<BatchField>& batch, const ClientCounters& counters) {
  Message<CountersField> message(batch, BatchField::Counters);
  add_nonzero(message, CountersField::Recorded, counters.recorded);
  add_nonzero(message, CountersField::Sent, counters.sent);
  add_nonzero(message, CountersField::Merged, counters.merged);
  add_nonzero(message, CountersField::Thinned, counters.thinned);
  add_nonzero(message, CountersField::Uncertain, counters.uncertain);
  add_nonzero(message, CountersField::Reconnects, counters.reconnects);
}

void add_features(Message<WelcomeField>& message, const FeatureSet& features) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t number = 0; number < features.size(); ++number)
    if (features[number]) numbers.push_back(number);
  message.add_packed_uint32(WelcomeField::Features, numbers.begin(), numbers.end());
}

}  // namespace

void append_hello(std::string& out, std::uint32_t pid, const Hello& hello) {
  append_message(out, PduType::Hello, pid, [&] {
    Message<HelloField> message(out);
    const std::string session(hello.session.begin(), hello.session.end());
    message.add_bytes(HelloField::Session, session);
    add_nonzero(message, HelloField::Pid, hello.pid);
    message.add_bytes(HelloField::Process, hello.process);
    message.add_bytes(HelloField::Service, hello.service);
    for (const auto& [name, value] : hello.labels) {
      Message<LabelField> label(message, HelloField::Labels);
      label.add_bytes(LabelField::Name, name);
      label.add_bytes(LabelField::Value, value);
    }
    add_nonzero(message, HelloField::StartTimeNs, hello.start_time_ns);
  });
}

void append_welcome(std::string& out, std::uint32_t pid, const Welcome& welcome) {
  append_message(out, PduType::Welcome, pid, [&] {
    Message<WelcomeField> message(out);
    message.add_fixed64(WelcomeField::AgentInstance, welcome.agent_instance);
    add_nonzero(message, WelcomeField::SessionKnown, welcome.session_known ? 1 : 0);
    add_nonzero(message, WelcomeField::LastSequence, welcome.last_sequence);
    add_nonzero(message, WelcomeField::MaxPduBytes, welcome.max_pdu_bytes);
    add_nonzero(message, WelcomeField::MaxTags, welcome.max_tags);
    add_features(message, welcome.features);
    add_nonzero(message, WelcomeField::LastEvents, welcome.last_events);
    if (!welcome.control) return;
    // Bytes and messages have the same encoding.
    std::string control;
    write_control(control, *welcome.control);
    message.add_bytes(WelcomeField::Control, control);
  });
}

void append_tags(std::string& out, std::uint32_t pid, const std::vector<TagDefinition>& tags) {
  append_message(out, PduType::Tags, pid, [&] {
    Message<TagsField> message(out);
    for (const TagDefinition& definition : tags) {
      Message<TagField> tag(message, TagsField::Tags);
      add_nonzero(tag, TagField::Id, definition.id);
      tag.add_bytes(TagField::Name, definition.name);
      add_nonempty(tag, TagField::Unit, definition.unit);
      add_nonempty(tag, TagField::Description, definition.description);
    }
  });
}

void append_batch_ack(std::string& out, std::uint32_t pid, std::uint64_t sequence) {
  append_message(out, PduType::BatchAck, pid, [&] {
    Message<BatchAckField> message(out);
    message.add_uint64(BatchAckField::Sequence, sequence);
  });
}

void append_bye(std::string& out, std::uint32_t pid, ByeReason reason) {
  append_message(out, PduType::Bye, pid, [&] {
    Message<ByeField> message(out);
    add_nonzero(message, ByeField::Reason, static_cast<std::uint32_t>(reason));
  });
}

void append_delta(std::string& body, std::uint32_t tag_id, TraceType type, const Delta& delta,
                  const Histogram& histogram) {
  Message<BatchField> batch(body);
  Message<DeltaField> message(batch, BatchField::Deltas);
  add_nonzero(message, DeltaField::Tag, tag_id);
  add_nonzero(message, DeltaField::Type, static_cast<std::uint64_t>(type));
  add_nonzero(message, DeltaField::Count, delta.count);
  if (type == TraceType::Transact) add_nonzero(message, DeltaField::Aborts, delta.aborts);
  if (type == TraceType::Point || delta.count == 0) return;
  add_nonzero(message, DeltaField::Nonfinite, delta.nonfinite);
  message.add_double(DeltaField::Last, delta.last);
  if (!has_histogram(type) || delta.count == delta.nonfinite) return;
  if (delta.sum != delta.last) message.add_double(DeltaField::Sum, delta.sum);
  if (delta.min != delta.last) message.add_double(DeltaField::Min, delta.min);
  if (delta.max != delta.last) message.add_double(DeltaField::Max, delta.max);
  if (histogram.empty()) return;
  // Bytes and messages have the same encoding; this saves a copy.
  protozero::pbf_writer packed(message, static_cast<std::uint32_t>(DeltaField::Histogram));
  histogram.pack(body);
}

void append_increments(std::string& body, std::uint32_t tag_id, const Delta& delta) {
  Message<BatchField> batch(body);
  Message<DeltaField> message(batch, BatchField::Deltas);
  add_nonzero(message, DeltaField::Tag, tag_id);
  add_nonzero(message, DeltaField::Type, static_cast<std::uint64_t>(TraceType::Counter));
  add_nonzero(message, DeltaField::Count, delta.count);
  message.add_double(DeltaField::Last, delta.last);
  if (delta.sum != delta.last) message.add_double(DeltaField::Sum, delta.sum);
  message.add_bool(DeltaField::Added, true);
}

void append_open_count(std::string& in_flight, const OpenCount& count) {
  Message<BatchField> batch(in_flight);
  Message<InFlightField> message(batch, BatchField::InFlight);
  message.add_uint32(InFlightField::Tag, count.tag_id);  // also 0: empty messages are not written
  add_nonzero(message, InFlightField::Open, count.open);
  add_nonzero(message, InFlightField::OldestNs, count.oldest_ns);
  add_nonzero(message, InFlightField::Tid, count.tid);
}

void append_batch(std::string& out, std::uint32_t pid, std::uint64_t sequence,
                  const BatchHead& head, std::string_view body) {
  append_message(out, PduType::Batch, pid, [&] {
    Message<BatchField> message(out);
    message.add_uint64(BatchField::Sequence, sequence);
    add_nonzero(message, BatchField::FirstNs, head.age.first_ns);
    add_nonzero(message, BatchField::LastNs, head.age.last_ns);
    add_counters(message, head.counters);
    out.append(head.in_flight);
    if (head.in_flight_anew) message.add_bool(BatchField::InFlightAnew, true);
    out.append(body);
  });
}

}  // namespace pcp::trace::wire
