// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>

#include "wire/events.hpp"
#include "wire/events_fields.hpp"
#include "wire/message.hpp"

namespace pcp::trace::wire {

namespace {

// These switches skip unknown fields, see batch_decode.cpp.

bool read_capture(protozero::data_view bytes, Capture& capture) {
  protozero::pbf_message<CaptureField> message(bytes);
  std::uint64_t place = 0;
  while (message.next()) {
    switch (message.tag_and_type()) {
      case tag_and_type(CaptureField::Id, Type::varint):
        capture.id = message.get_uint64();
        break;
      case tag_and_type(CaptureField::Place, Type::varint):
        place = message.get_uint64();
        break;
      case tag_and_type(CaptureField::Filter, Type::length_delimited):
        capture.filter = view_of(message.get_view());
        break;
      default:
        message.skip();
    }
  }
  capture.place = static_cast<std::uint32_t>(place);
  return capture.id != 0 && place < kMaxCaptures && capture.filter.size() <= kMaxFilterLength;
}

bool is_another(const Capture& capture, const std::vector<Capture>& others) {
  return std::none_of(others.begin(), others.end(), [&](const Capture& other) {
    return other.id == capture.id || other.place == capture.place;
  });
}

bool read_count(protozero::data_view bytes, CaptureCount& count) {
  protozero::pbf_message<CaptureCountField> message(bytes);
  while (message.next()) {
    switch (message.tag_and_type()) {
      case tag_and_type(CaptureCountField::Capture, Type::varint):
        count.capture = message.get_uint64();
        break;
      case tag_and_type(CaptureCountField::Captured, Type::varint):
        count.captured = message.get_uint64();
        break;
      case tag_and_type(CaptureCountField::MissedFull, Type::varint):
        count.missed_full = message.get_uint64();
        break;
      case tag_and_type(CaptureCountField::MissedLimit, Type::varint):
        count.missed_limit = message.get_uint64();
        break;
      case tag_and_type(CaptureCountField::MissedWaiting, Type::varint):
        count.missed_waiting = message.get_uint64();
        break;
      case tag_and_type(CaptureCountField::MissedAway, Type::varint):
        count.missed_away = message.get_uint64();
        break;
      default:
        message.skip();
    }
  }
  const std::uint64_t most = std::max({count.captured, count.missed_full, count.missed_limit,
                                       count.missed_waiting, count.missed_away});
  return count.capture != 0 && most <= kMaxCaptureCount;
}

bool read_attribute(protozero::data_view bytes, SpanAttribute& attribute) {
  protozero::pbf_message<AttributeField> message(bytes);
  while (message.next()) {
    switch (message.tag_and_type()) {
      case tag_and_type(AttributeField::Key, Type::length_delimited):
        attribute.key = view_of(message.get_view());
        break;
      case tag_and_type(AttributeField::Text, Type::length_delimited):
        attribute.text = view_of(message.get_view());
        break;
      case tag_and_type(AttributeField::Number, Type::fixed64):
        attribute.number = message.get_double();
        break;
      default:
        message.skip();
    }
  }
  return !attribute.key.empty() && attribute.key.size() <= kMaxAttributeKeyLength &&
         attribute.text.size() <= kMaxAttributeTextLength;
}

bool read_link(protozero::data_view bytes, SpanLink& link) {
  protozero::pbf_message<LinkField> message(bytes);
  while (message.next()) {
    switch (message.tag_and_type()) {
      case tag_and_type(LinkField::TraceHigh, Type::fixed64):
        link.trace.high = message.get_fixed64();
        break;
      case tag_and_type(LinkField::TraceLow, Type::fixed64):
        link.trace.low = message.get_fixed64();
        break;
      case tag_and_type(LinkField::Span, Type::fixed64):
        link.span = message.get_fixed64();
        break;
      default:
        message.skip();
    }
  }
  return link.trace.is_set() && link.span != 0;
}

// A span as received: an unchecked kind, and the number of its attributes and links, the last ones
// read so far.
struct RawSpan {
  std::uint64_t kind = 0;
  std::size_t attributes = 0;
  std::size_t links = 0;
};

bool is_sane(const Span& span, const RawSpan& raw) {
  return is_span_kind(raw.kind) && span.places != 0 &&
         span.reason.size() <= kMaxAttributeTextLength && span.begin_ns <= kLatestEndNs &&
         span.duration_ns <= kLatestEndNs - span.begin_ns &&
         (is_event(span.kind) || (span.trace.is_set() && span.span != 0));
}

bool read_span(protozero::data_view bytes, Events& events) {
  Span& span = events.spans.emplace_back();
  RawSpan raw;
  protozero::pbf_message<SpanField> message(bytes);
  while (message.next()) {
    switch (message.tag_and_type()) {
      case tag_and_type(SpanField::Tag, Type::varint):
        span.tag_id = message.get_uint32();
        break;
      case tag_and_type(SpanField::Kind, Type::varint):
        raw.kind = message.get_uint64();
        break;
      case tag_and_type(SpanField::BeginNs, Type::fixed64):
        span.begin_ns = message.get_fixed64();
        break;
      case tag_and_type(SpanField::DurationNs, Type::varint):
        span.duration_ns = message.get_uint64();
        break;
      case tag_and_type(SpanField::TraceHigh, Type::fixed64):
        span.trace.high = message.get_fixed64();
        break;
      case tag_and_type(SpanField::TraceLow, Type::fixed64):
        span.trace.low = message.get_fixed64();
        break;
      case tag_and_type(SpanField::Span, Type::fixed64):
        span.span = message.get_fixed64();
        break;
      case tag_and_type(SpanField::Parent, Type::fixed64):
        span.parent = message.get_fixed64();
        break;
      case tag_and_type(SpanField::Flags, Type::varint):
        span.flags = message.get_uint32();
        break;
      case tag_and_type(SpanField::Tid, Type::varint):
        span.tid = message.get_uint32();
        break;
      case tag_and_type(SpanField::Places, Type::varint):
        span.places = message.get_uint32();
        break;
      case tag_and_type(SpanField::Aborted, Type::varint):
        span.aborted = message.get_uint64() != 0;  // get_bool() reads past the end
        break;
      case tag_and_type(SpanField::Reason, Type::length_delimited):
        span.reason = view_of(message.get_view());
        break;
      case tag_and_type(SpanField::Attributes, Type::length_delimited):
        if (raw.attributes++ == kMaxAttributes) return false;
        if (!read_attribute(message.get_view(), events.attributes.emplace_back())) return false;
        break;
      case tag_and_type(SpanField::Links, Type::length_delimited):
        if (raw.links++ == kMaxLinks) return false;
        if (!read_link(message.get_view(), events.links.emplace_back())) return false;
        break;
      case tag_and_type(SpanField::LeftOut, Type::varint):
        span.left_out = message.get_uint32();
        break;
      case tag_and_type(SpanField::Value, Type::fixed64):
        span.value = message.get_double();
        break;
      default:
        message.skip();
    }
  }
  span.kind = static_cast<SpanKind>(raw.kind);
  span.attributes = {events.attributes.data(), raw.attributes};  // only the size; see place_parts()
  span.links = {events.links.data(), raw.links};
  return is_sane(span, raw);
}

// Points each span to its attributes and links, which move no more.
void place_parts(Events& events) {
  const SpanAttribute* attributes = events.attributes.data();
  const SpanLink* links = events.links.data();
  for (Span& span : events.spans) {
    span.attributes = {attributes, span.attributes.size()};
    span.links = {links, span.links.size()};
    attributes += span.attributes.size();
    links += span.links.size();
  }
}

bool read_events(std::string_view payload, Events& events) {
  protozero::pbf_message<EventsField> message(payload.data(), payload.size());
  while (message.next()) {
    switch (message.tag_and_type()) {
      case tag_and_type(EventsField::Sequence, Type::varint):
        events.sequence = message.get_uint64();
        break;
      case tag_and_type(EventsField::Control, Type::varint):
        events.control = message.get_uint64();
        break;
      case tag_and_type(EventsField::Spans, Type::length_delimited):
        if (!read_span(message.get_view(), events)) return false;
        break;
      case tag_and_type(EventsField::Counts, Type::length_delimited):
        if (!read_count(message.get_view(), events.counts.emplace_back())) return false;
        break;
      default:
        message.skip();
    }
  }
  place_parts(events);
  return events.sequence > 0 && events.control > 0;
}

}  // namespace

bool read_control(std::string_view payload, Control& control) {
  protozero::pbf_message<ControlField> message(payload.data(), payload.size());
  control.most_a_second = 0;
  while (message.next()) {
    switch (message.tag_and_type()) {
      case tag_and_type(ControlField::Number, Type::varint):
        control.number = message.get_uint64();
        break;
      case tag_and_type(ControlField::Captures, Type::length_delimited): {
        Capture capture;
        if (!read_capture(message.get_view(), capture)) return false;
        if (!is_another(capture, control.captures)) return false;
        control.captures.push_back(std::move(capture));
        break;
      }
      case tag_and_type(ControlField::MostASecond, Type::varint):
        control.most_a_second = message.get_uint32();
        break;
      default:
        message.skip();
    }
  }
  if (control.most_a_second == 0) control.most_a_second = kAnyRate;
  return control.number > 0;
}

std::optional<Control> decode_control(std::string_view payload) {
  Control control;
  if (!decodes([&] { return read_control(payload, control); })) return std::nullopt;
  return control;
}

bool decode_events(std::string_view payload, Events& events) {
  events.sequence = 0;
  events.control = 0;
  events.spans.clear();
  events.counts.clear();
  events.attributes.clear();
  events.links.clear();
  return payload.size() <= kMaxEventsPduBytes - kHeaderBytes &&
         decodes([&] { return read_events(payload, events); });
}

std::optional<std::uint64_t> decode_events_ack(std::string_view payload) {
  std::uint64_t sequence = 0;
  const bool valid = decodes([&] {
    protozero::pbf_message<EventsAckField> message(payload.data(), payload.size());
    while (message.next()) {
      if (message.tag_and_type() == tag_and_type(EventsAckField::Sequence, Type::varint)) {
        sequence = message.get_uint64();
      } else {
        message.skip();
      }
    }
    return sequence > 0;
  });
  if (!valid) return std::nullopt;
  return sequence;
}

}  // namespace pcp::trace::wire
