// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wire/events.hpp"
#include "wire/events_fields.hpp"
#include "wire/message.hpp"

namespace pcp::trace::wire {

namespace {

using SpanMessage = Message<SpanField>;

template <typename Field>
void add_nonzero_fixed(Message<Field>& message, Field field, std::uint64_t value) {
  if (value != 0) message.add_fixed64(field, value);
}

// Part of kMaxSpanBytes for links and a span's numbers.
constexpr std::size_t kRestOfSpanBytes = 2048;
// An attribute's bytes besides its texts: tags and lengths, or a number.
constexpr std::size_t kAttributeOverheadBytes = 32;

bool is_sendable(const SpanAttribute& attribute) {
  return !attribute.key.empty() && attribute.key.size() <= kMaxAttributeKeyLength &&
         (attribute.number || attribute.text.size() <= kMaxAttributeTextLength);
}

void add_attribute(SpanMessage& span, const SpanAttribute& attribute) {
  Message<AttributeField> message(span, SpanField::Attributes);
  add_nonempty(message, AttributeField::Key, attribute.key);
  if (attribute.number)
    message.add_double(AttributeField::Number, *attribute.number);
  else
    add_nonempty(message, AttributeField::Text, attribute.text);
}

// Adds attributes that fit into `room` bytes. Gives the number of the others.
std::uint32_t add_attributes(SpanMessage& span, std::span<const SpanAttribute> attributes,
                             std::size_t room) {
  std::size_t added = 0;
  for (const SpanAttribute& attribute : attributes) {
    const std::size_t bytes = kAttributeOverheadBytes + attribute.key.size() +
                              (attribute.number ? 0 : attribute.text.size());
    if (added == kMaxAttributes || !is_sendable(attribute) || bytes > room) continue;
    add_attribute(span, attribute);
    room -= bytes;
    ++added;
  }
  return static_cast<std::uint32_t>(attributes.size() - added);
}

std::uint32_t add_links(SpanMessage& span, std::span<const SpanLink> links) {
  std::size_t added = 0;
  for (const SpanLink& link : links) {
    if (added == kMaxLinks || !link.trace.is_set() || link.span == 0) continue;
    Message<LinkField> message(span, SpanField::Links);
    add_nonzero_fixed(message, LinkField::TraceHigh, link.trace.high);
    add_nonzero_fixed(message, LinkField::TraceLow, link.trace.low);
    message.add_fixed64(LinkField::Span, link.span);
    ++added;
  }
  return static_cast<std::uint32_t>(links.size() - added);
}

void add_count(Message<EventsField>& events, const CaptureCount& count) {
  Message<CaptureCountField> message(events, EventsField::Counts);
  add_nonzero(message, CaptureCountField::Capture, count.capture);
  add_nonzero(message, CaptureCountField::Captured, count.captured);
  add_nonzero(message, CaptureCountField::MissedFull, count.missed_full);
  add_nonzero(message, CaptureCountField::MissedLimit, count.missed_limit);
  add_nonzero(message, CaptureCountField::MissedWaiting, count.missed_waiting);
  add_nonzero(message, CaptureCountField::MissedAway, count.missed_away);
}

}  // namespace

void write_control(std::string& out, const Control& control) {
  Message<ControlField> message(out);
  add_nonzero(message, ControlField::Number, control.number);
  for (const Capture& capture : control.captures) {
    Message<CaptureField> each(message, ControlField::Captures);
    add_nonzero(each, CaptureField::Id, capture.id);
    add_nonzero(each, CaptureField::Place, capture.place);
    add_nonempty(each, CaptureField::Filter, capture.filter);
  }
  if (control.most_a_second != kAnyRate)
    add_nonzero(message, ControlField::MostASecond, control.most_a_second);
}

void append_control(std::string& out, std::uint32_t pid, const Control& control) {
  append_message(out, PduType::Control, pid, [&] { write_control(out, control); });
}

void append_span(std::string& body, const Span& span) {
  Message<EventsField> events(body);
  SpanMessage message(events, EventsField::Spans);
  add_nonzero(message, SpanField::Tag, span.tag_id);
  add_nonzero(message, SpanField::Kind, static_cast<std::uint64_t>(span.kind));
  add_nonzero_fixed(message, SpanField::BeginNs, span.begin_ns);
  add_nonzero(message, SpanField::DurationNs, span.duration_ns);
  add_nonzero_fixed(message, SpanField::TraceHigh, span.trace.high);
  add_nonzero_fixed(message, SpanField::TraceLow, span.trace.low);
  add_nonzero_fixed(message, SpanField::Span, span.span);
  add_nonzero_fixed(message, SpanField::Parent, span.parent);
  add_nonzero(message, SpanField::Flags, span.flags);
  add_nonzero(message, SpanField::Tid, span.tid);
  add_nonzero(message, SpanField::Places, span.places);
  add_nonzero(message, SpanField::Aborted, span.aborted ? 1 : 0);
  const std::string_view reason = span.reason.substr(0, kMaxAttributeTextLength);
  add_nonempty(message, SpanField::Reason, reason);
  std::uint32_t left_out = span.left_out;
  left_out +=
      add_attributes(message, span.attributes, kMaxSpanBytes - kRestOfSpanBytes - reason.size());
  left_out += add_links(message, span.links);
  add_nonzero(message, SpanField::LeftOut, left_out);
  if (span.value != 0) message.add_double(SpanField::Value, span.value);
}

void append_events(std::string& out, std::uint32_t pid, std::uint64_t sequence,
                   std::uint64_t control, std::span<const CaptureCount> counts,
                   std::string_view body) {
  append_message(out, PduType::Events, pid, [&] {
    Message<EventsField> message(out);
    add_nonzero(message, EventsField::Sequence, sequence);
    add_nonzero(message, EventsField::Control, control);
    out.append(body);
    for (const CaptureCount& count : counts) add_count(message, count);
  });
}

void append_events_ack(std::string& out, std::uint32_t pid, std::uint64_t sequence) {
  append_message(out, PduType::EventsAck, pid, [&] {
    Message<EventsAckField> message(out);
    add_nonzero(message, EventsAckField::Sequence, sequence);
  });
}

}  // namespace pcp::trace::wire
