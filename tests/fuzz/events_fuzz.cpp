// SPDX-License-Identifier: LGPL-2.1-or-later
// Payloads of EVENTS, CONTROL and EVENTSACK. Accepted payloads keep the promises of events.hpp, and
// are the same after encoding and decoding again. Payloads of our own encoder also survive that.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fuzz/input.hpp"
#include "wire/batch.hpp"
#include "wire/events.hpp"

namespace {

using namespace pcp::trace;
using namespace pcp::trace::wire;
using fuzz::Input;
using fuzz::require;

constexpr std::uint32_t kPid = 7;

std::string_view payload_of(std::string_view pdu, PduType type) {
  require(pdu.size() >= kHeaderBytes && read_u32(pdu) == pdu.size());
  require(read_u32(pdu.substr(4)) == static_cast<std::uint32_t>(type));
  return pdu.substr(kHeaderBytes);
}

// NaN equals NaN. A zero may lose its sign, because zero is not sent.
bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool same(const SpanAttribute& a, const SpanAttribute& b) {
  if (a.key != b.key || a.number.has_value() != b.number.has_value()) return false;
  return a.number ? same(*a.number, *b.number) : a.text == b.text;
}

void check_control(const Control& control) {
  require(control.number > 0 && control.captures.size() <= kMaxCaptures);
  std::uint64_t places = 0;
  for (const Capture& capture : control.captures) {
    require(capture.id != 0 && capture.place < kMaxCaptures);
    require(capture.filter.size() <= kMaxFilterLength);
    require((places >> capture.place & 1) == 0);
    places |= std::uint64_t{1} << capture.place;
  }
  std::string pdu;
  append_control(pdu, kPid, control);
  require(decode_control(payload_of(pdu, PduType::Control)) == control);

  Welcome welcome;
  welcome.agent_instance = 1;
  welcome.max_pdu_bytes = kLeastMaxPduBytes;
  welcome.last_events = control.number;
  welcome.control = control;
  pdu.clear();
  append_welcome(pdu, kPid, welcome);
  const auto again = decode_welcome(payload_of(pdu, PduType::Welcome));
  require(again && again->control == control && again->last_events == control.number);
}

void check_span(const Span& span) {
  require(is_span_kind(static_cast<std::uint64_t>(span.kind)) && span.places != 0);
  require(is_event(span.kind) || (span.trace.is_set() && span.span != 0));
  require(span.begin_ns <= kLatestEndNs && span.duration_ns <= kLatestEndNs - span.begin_ns);
  require(span.reason.size() <= kMaxAttributeTextLength);
  require(span.attributes.size() <= kMaxAttributes && span.links.size() <= kMaxLinks);
  for (const SpanAttribute& attribute : span.attributes) {
    require(!attribute.key.empty() && attribute.key.size() <= kMaxAttributeKeyLength);
    require(attribute.text.size() <= kMaxAttributeTextLength);
  }
  for (const SpanLink& link : span.links) require(link.trace.is_set() && link.span != 0);
}

// Except attributes and left_out: a span may have more attributes than fit.
void check_same_head(const Span& a, const Span& b) {
  require(a.tag_id == b.tag_id && a.kind == b.kind && a.begin_ns == b.begin_ns);
  require(a.duration_ns == b.duration_ns && a.trace == b.trace && a.span == b.span);
  require(a.parent == b.parent && a.flags == b.flags && a.tid == b.tid && a.places == b.places);
  require(a.aborted == b.aborted && a.reason == b.reason && same(a.value, b.value));
}

void check_same(const Span& a, const Span& b) {
  check_same_head(a, b);
  require(std::equal(a.links.begin(), a.links.end(), b.links.begin(), b.links.end()));
  require(b.left_out ==
          static_cast<std::uint32_t>(a.left_out + a.attributes.size() - b.attributes.size()));
  if (a.attributes.size() != b.attributes.size()) return;
  for (std::size_t i = 0; i < a.attributes.size(); ++i)
    require(same(a.attributes[i], b.attributes[i]));
}

void check_events(const Events& events) {
  require(events.sequence > 0 && events.control > 0);
  std::string body;
  const SpanAttribute* attributes = events.attributes.data();
  const SpanLink* links = events.links.data();
  for (const Span& span : events.spans) {
    check_span(span);
    require(span.attributes.data() == attributes && span.links.data() == links);
    attributes += span.attributes.size();
    links += span.links.size();
    const std::size_t before = body.size();
    append_span(body, span);
    require(body.size() - before <= kMaxSpanBytes);
  }
  for (const CaptureCount& count : events.counts)
    require(count.capture != 0 &&
            std::max({count.captured, count.missed_full, count.missed_limit, count.missed_waiting,
                      count.missed_away}) <= kMaxCaptureCount);
  std::string pdu;
  append_events(pdu, kPid, events.sequence, events.control, events.counts, body);
  require(pdu.size() <=
          body.size() + events.counts.size() * kMaxCaptureCountBytes + kEventsOverheadBytes);
  Events again;
  require(decode_events(payload_of(pdu, PduType::Events), again));
  require(again.sequence == events.sequence && again.control == events.control);
  require(again.counts == events.counts && again.spans.size() == events.spans.size());
  for (std::size_t i = 0; i < events.spans.size(); ++i) check_same(events.spans[i], again.spans[i]);
}

// A span of arbitrary values, as a program may make it.
Span take_span(Input& input, std::vector<SpanAttribute>& attributes, std::vector<SpanLink>& links) {
  static const std::string kLong(5000, 'x');
  const auto text = [&] {
    const std::size_t size = input.byte();
    if (size > 250) return std::string_view(kLong).substr(0, 4090 + input.byte());
    return input.text(size);
  };
  attributes.resize(input.pick(40));
  for (SpanAttribute& attribute : attributes) {
    attribute = {text(), text()};
    if (input.pick(3) == 0) attribute.number = input.real();
  }
  links.resize(input.pick(40));
  for (SpanLink& link : links) link = {{input.pick(2), input.pick(2)}, input.pick(3)};
  Span span{.tag_id = input.byte(), .kind = SpanKind{static_cast<std::uint8_t>(input.pick(7))}};
  span.begin_ns = input.number() / 4;
  span.duration_ns = input.number() / 4;
  span.trace = {input.number(), 1};
  span.span = input.number() | 1;
  span.places = input.byte() | 1u;
  span.aborted = input.pick(2) == 1;
  span.reason = text();
  span.attributes = attributes;
  span.links = links;
  span.left_out = input.byte();
  span.value = input.real();
  return span;
}

void encode_and_check(Input input) {
  std::vector<SpanAttribute> attributes;
  std::vector<SpanLink> links;
  const Span span = take_span(input, attributes, links);
  std::string body;
  append_span(body, span);
  require(body.size() <= kMaxSpanBytes);
  std::string pdu;
  append_events(pdu, kPid, 1, 1, {}, body);
  Events events;
  require(decode_events(payload_of(pdu, PduType::Events), events) && events.spans.size() == 1);
  const Span& arrived = events.spans.front();
  Span cut = span;
  cut.reason = span.reason.substr(0, kMaxAttributeTextLength);
  check_same_head(cut, arrived);
  require(arrived.left_out - span.left_out ==
          attributes.size() - arrived.attributes.size() + links.size() - arrived.links.size());
  check_events(events);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  Input input(bytes, size);
  Events events;
  switch (input.pick(4)) {
    case 0:
      if (decode_events(input.rest(), events)) check_events(events);
      break;
    case 1:
      if (const auto control = decode_control(input.rest())) check_control(*control);
      break;
    case 2:
      if (const auto sequence = decode_events_ack(input.rest())) {
        std::string pdu;
        append_events_ack(pdu, kPid, *sequence);
        require(decode_events_ack(payload_of(pdu, PduType::EventsAck)) == sequence);
      }
      break;
    default:
      encode_and_check(input);
  }
  return 0;
}
