// SPDX-License-Identifier: LGPL-2.1-or-later
// Payloads of EVENTS, CONTROL and EVENTSACK. An accepted payload keeps the promises of
// events.hpp, and is the same PDU each time that it is encoded. A span of our own encoder has all
// its values when it is decoded, except what events.hpp leaves out.
#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/input.hpp"
#include "fuzz/same_again.hpp"

using namespace pcp::trace;
using fuzz::Input;
using fuzz::require;

namespace {

using namespace pcp::trace::wire;
using fuzz::same;

void check_control(const Control& control) {
  require(control.number > 0 && control.captures.size() <= kMaxCaptures);
  std::uint64_t bits = 0;
  for (const Capture& capture : control.captures) {
    require(capture.id != 0 && capture.bit < kMaxCaptures);
    require(capture.filter.size() <= kMaxFilterLength);
    require((bits >> capture.bit & 1) == 0);
    bits |= std::uint64_t{1} << capture.bit;
  }
  Welcome welcome;
  welcome.agent_instance = 1;
  welcome.max_pdu_bytes = kLeastMaxPduBytes;
  welcome.last_events = control.number;
  welcome.control = control;
  require(fuzz::is_same_again(PduType::Welcome, payload_of(pdu_of(append_welcome, welcome))));
}

void check_span(const Span& span) {
  require(is_span_kind(static_cast<std::uint64_t>(span.kind)) && span.capture_bits != 0);
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

// Without attributes, links and left_out: a span may have more than fit.
void check_same_head(const Span& a, const Span& b) {
  require(a.tag_id == b.tag_id && a.kind == b.kind && a.begin_ns == b.begin_ns);
  require(a.duration_ns == b.duration_ns && a.trace == b.trace && a.span == b.span);
  require(a.parent == b.parent && a.flags == b.flags && a.tid == b.tid &&
          a.capture_bits == b.capture_bits);
  require(a.aborted == b.aborted && a.reason == b.reason && same(a.value, b.value));
}

void check_events(const Events& events) {
  require(events.sequence > 0 && events.control > 0);
  const SpanAttribute* attributes = events.attributes.data();
  const SpanLink* links = events.links.data();
  for (const Span& span : events.spans) {
    check_span(span);
    require(span.attributes.data() == attributes && span.links.data() == links);
    attributes += span.attributes.size();
    links += span.links.size();
    std::string body;
    append_span(body, span);
    require(body.size() <= kMaxSpanBytes);
  }
  require(events.wanted.size() <= kMaxWanted);
  for (const WantedTrace& wanted : events.wanted) require(wanted.capture_bits != 0);
  for (const CaptureCount& count : events.counts)
    require(count.capture != 0 &&
            std::max({count.captured, count.missed_full, count.missed_limit, count.missed_waiting,
                      count.missed_away}) <= kMaxCaptureCount);
  const std::string head =
      pdu_of(append_events, events.sequence, events.control, events.counts, events.wanted, {});
  require(head.size() <= events.counts.size() * kMaxCaptureCountBytes +
                             events.wanted.size() * kMaxWantedTraceBytes + kEventsOverheadBytes);
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
  span.capture_bits = input.byte() | 1u;
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
  const std::string pdu = pdu_of(append_events, 1, 1, {}, {}, body);
  Events events;
  require(decode_events(payload_of(pdu), events) && events.spans.size() == 1);
  const Span& arrived = events.spans.front();
  Span cut = span;
  cut.reason = span.reason.substr(0, kMaxAttributeTextLength);
  check_same_head(cut, arrived);
  require(arrived.left_out - span.left_out ==
          attributes.size() - arrived.attributes.size() + links.size() - arrived.links.size());
  check_events(events);
  require(fuzz::is_same_again(PduType::Events, payload_of(pdu)));
}

}  // namespace

void fuzz::run(Input input) {
  constexpr PduType kTypes[] = {PduType::Events, PduType::Control, PduType::EventsAck};
  const unsigned choice = input.pick(4);
  if (choice == 3) {
    encode_and_check(input);
    return;
  }
  if (choice == 1) fuzz::is_same_again(PduType::Wanted, input.rest());
  if (!fuzz::is_same_again(kTypes[choice], input.rest())) return;
  Events events;
  if (choice == 0 && decode_events(input.rest(), events)) check_events(events);
  if (choice == 1) check_control(*decode_control(input.rest()));
}
