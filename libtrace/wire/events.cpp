// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wire/events.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "base/sip_hash.hpp"
#include "wire/descriptions.hpp"
#include "wire/message.hpp"

namespace pcp::trace::wire {

namespace {

// Part of kMaxSpanBytes for links and a span's numbers.
constexpr std::size_t kRestOfSpanBytes = 2048;
// An attribute's bytes besides its texts: tags and lengths, or a number.
constexpr std::size_t kAttributeOverheadBytes = 32;

// Attributes and links of a span that may be sent.
struct SentParts {
  std::array<SpanAttribute, kMaxAttributes> attributes;
  std::array<SpanLink, kMaxLinks> links;
};

// Keeps attributes that fit into `room` bytes.
std::span<const SpanAttribute> sendable(std::span<const SpanAttribute> attributes, std::size_t room,
                                        SentParts& parts) {
  std::size_t kept = 0;
  for (const SpanAttribute& attribute : attributes) {
    SpanAttribute sent = attribute;
    if (sent.number) sent.text = {};
    const std::size_t bytes = kAttributeOverheadBytes + sent.key.size() + sent.text.size();
    if (kept == kMaxAttributes || !Description<SpanAttribute>::is_valid(sent) || bytes > room)
      continue;
    parts.attributes[kept++] = sent;
    room -= bytes;
  }
  return {parts.attributes.data(), kept};
}

std::span<const SpanLink> sendable(std::span<const SpanLink> links, SentParts& parts) {
  std::size_t kept = 0;
  for (const SpanLink& link : links)
    if (kept < kMaxLinks && Description<SpanLink>::is_valid(link)) parts.links[kept++] = link;
  return {parts.links.data(), kept};
}

// Reads each span to the end of events.spans, and its attributes and links to the ends of these.
struct SpanReader {
  Events& events;
};

// Counts the attributes and links of the span that it reads; assign_parts() points to them.
class PartsReader : public FieldReader {
 public:
  PartsReader(protozero::pbf_reader& message, bool& is_valid, Events& events)
      : FieldReader(message, is_valid), events_(events) {}

  using FieldReader::operator();
  bool operator()(FieldNumber number, std::span<const SpanAttribute>& attributes) {
    return read_part(number, events_.attributes, attributes);
  }
  bool operator()(FieldNumber number, std::span<const SpanLink>& links) {
    return read_part(number, events_.links, links);
  }

 private:
  template <typename Part>
  bool read_part(FieldNumber number, std::vector<Part>& all, std::span<const Part>& of_span) {
    if (!(*this)(number, all)) return false;
    of_span = {all.data(), of_span.size() + 1};
    return true;
  }

  Events& events_;
};

// Calls append() with what may be sent of a span.
template <typename Append>
void append_sendable(const Span& span, Append append) {
  if (span.attributes.empty() && span.links.empty() && span.reason.empty()) return append(span);
  SentParts parts;
  Span sent = span;
  sent.reason = span.reason.substr(0, kMaxAttributeTextLength);
  sent.attributes =
      sendable(span.attributes, kMaxSpanBytes - kRestOfSpanBytes - sent.reason.size(), parts);
  sent.links = sendable(span.links, parts);
  sent.left_out += static_cast<std::uint32_t>(span.attributes.size() - sent.attributes.size() +
                                              span.links.size() - sent.links.size());
  append(sent);
}

struct SpanInParts {
  const Span& span;
  Encoded others;
};

struct EncodedEvents {
  std::uint64_t sequence;
  std::uint64_t control;
  Encoded spans;
  std::span<const CaptureCount> counts;
  std::span<const WantedTrace> wanted;
};

struct ReceivedEvents {
  std::uint64_t& sequence;
  std::uint64_t& control;
  SpanReader spans;
  std::vector<CaptureCount>& counts;
  std::vector<WantedTrace>& wanted;
};

// Points each span to its attributes and links, which move no more.
void assign_parts(Events& events) {
  const SpanAttribute* attributes = events.attributes.data();
  const SpanLink* links = events.links.data();
  for (Span& span : events.spans) {
    span.attributes = {attributes, span.attributes.size()};
    span.links = {links, span.links.size()};
    attributes += span.attributes.size();
    links += span.links.size();
  }
}

}  // namespace

template <>
struct Description<SpanReader> {
  static bool read(std::string_view payload, SpanReader& reader) {
    return read_fields<PartsReader>(payload, reader.events.spans.emplace_back(), reader.events);
  }
};

template <>
struct Description<SpanInParts> {
  static bool fields(auto& field, const auto& parts) {
    return Description<Span>::fields(field, parts.span) || field(0, parts.others);
  }
};

template <>
struct Description<EncodedEvents> : EventsDescription {};

template <>
struct Description<ReceivedEvents> : EventsDescription {};

bool Description<Capture>::is_valid(const Capture& capture) {
  return capture.id != 0 && capture.bit < kMaxCaptures && capture.filter.size() <= kMaxFilterLength;
}

bool Description<Control>::is_valid(Control& control) {
  if (control.most_a_second == 0) control.most_a_second = kAnyRate;
  if (control.number == 0 || control.captures.size() > kMaxCaptures) return false;
  std::set<std::uint64_t> ids;
  std::set<std::uint32_t> bits;
  return std::ranges::all_of(control.captures, [&](const Capture& capture) {
    return ids.insert(capture.id).second && bits.insert(capture.bit).second;
  });
}

bool Description<CaptureCount>::is_valid(const CaptureCount& count) {
  const std::uint64_t most = std::max({count.captured, count.missed_full, count.missed_limit,
                                       count.missed_waiting, count.missed_away});
  return count.capture != 0 && most <= kMaxCaptureCount && count.threshold <= kAllIds;
}

bool Description<Span>::is_valid(const Span& span) {
  return is_span_kind(static_cast<std::uint64_t>(span.kind)) && span.capture_bits != 0 &&
         span.attributes.size() <= kMaxAttributes && span.links.size() <= kMaxLinks &&
         span.reason.size() <= kMaxAttributeTextLength && span.begin_ns <= kLatestEndNs &&
         span.duration_ns <= kLatestEndNs - span.begin_ns &&
         (is_event(span.kind) || (span.trace.is_set() && span.span != 0));
}

bool Description<SpanAttribute>::is_valid(const SpanAttribute& attribute) {
  return !attribute.key.empty() && attribute.key.size() <= kMaxAttributeKeyLength &&
         attribute.text.size() <= kMaxAttributeTextLength;
}

void append_control(std::string& out, std::uint32_t pid, const Control& control) {
  append_pdu(out, PduType::Control, pid, control);
}

void append_wanted(std::string& out, std::uint32_t pid, std::span<const WantedTrace> wanted) {
  append_pdu(out, PduType::Wanted, pid, WantedList<std::span<const WantedTrace>>{wanted});
}

std::uint64_t hash_of_trace(std::uint64_t trace_low) {
  // Every process has the same key: the hash only has to be hard to turn back.
  SipHash hash({0x7063702d74726163, 0x652077616e746564});
  hash.absorb(trace_low);
  hash.absorb(sizeof trace_low << 56);
  return hash.finish();
}

void append_span(std::string& body, const Span& span, std::string_view others) {
  append_sendable(span, [&](const Span& sent) {
    append_field(body, EventsDescription::kSpans, SpanInParts{sent, {others}});
  });
}

void append_span_fields(std::string& fields, const Span& span) {
  append_sendable(span, [&](const Span& sent) {
    protozero::pbf_writer message(fields);
    write_fields(fields, message, sent);
  });
}

void append_events(std::string& out, std::uint32_t pid, std::uint64_t sequence,
                   std::uint64_t control, std::span<const CaptureCount> counts,
                   std::span<const WantedTrace> wanted, std::string_view body) {
  append_pdu(out, PduType::Events, pid, EncodedEvents{sequence, control, {body}, counts, wanted});
}

void append_events_ack(std::string& out, std::uint32_t pid, std::uint64_t sequence) {
  append_pdu(out, PduType::EventsAck, pid, Acknowledgement{sequence});
}

std::optional<Control> decode_control(std::string_view payload) {
  return decoded<Control>(payload);
}

std::optional<std::vector<WantedTrace>> decode_wanted(std::string_view payload) {
  auto list = decoded<WantedList<std::vector<WantedTrace>>>(payload);
  if (!list) return std::nullopt;
  return std::move(list->wanted);
}

bool decode_events(std::string_view payload, Events& events) {
  events.sequence = 0;
  events.control = 0;
  events.spans.clear();
  events.counts.clear();
  events.wanted.clear();
  events.attributes.clear();
  events.links.clear();
  if (payload.size() > kMaxEventsPduBytes - kHeaderBytes) return false;
  ReceivedEvents message{events.sequence, events.control, {events}, events.counts, events.wanted};
  if (!decodes(payload, message)) return false;
  assign_parts(events);
  return true;
}

bool decode_span_fields(std::string_view fields, Events& events) {
  events.spans.clear();
  events.attributes.clear();
  events.links.clear();
  SpanReader reader{events};
  if (!decodes(fields, reader)) return false;
  assign_parts(events);
  return true;
}

bool is_valid(const Span& span) { return Description<Span>::is_valid(span); }

std::optional<std::uint64_t> decode_events_ack(std::string_view payload) {
  return decoded_sequence(payload);
}

}  // namespace pcp::trace::wire
