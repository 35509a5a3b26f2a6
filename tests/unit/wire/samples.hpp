// SPDX-License-Identifier: LGPL-2.1-or-later
// One PDU of each type, for tests of all of them.
#pragma once

#include <string>
#include <vector>

#include "support/encoded.hpp"

namespace pcp::trace::wire {

inline Hello sample_hello() {
  Hello hello;
  for (std::size_t i = 0; i < hello.session.size(); ++i) {
    hello.session[i] = static_cast<std::uint8_t>(0xa0 + i);
  }
  hello.pid = kPid;
  hello.process = "shop";
  hello.service = "web";
  hello.labels = {{"zone", "eu"}, {"empty", ""}};
  return hello;
}

inline Welcome sample_welcome() {
  Welcome welcome;
  welcome.agent_instance = 0x0102030405060708;
  welcome.session_known = true;
  welcome.last_sequence = 7;
  welcome.max_pdu_bytes = 1 << 20;
  welcome.max_tags = 100'000;
  welcome.features.set(number_of(Feature::InFlight)).set(40);
  return welcome;
}

inline std::vector<TagDefinition> sample_tags() {
  return {{0, "one"}, {300, "buy a book", "ms", "all of it"}};
}

// A tag's values, and their histogram if its type has one.
struct Collected {
  Delta delta;
  Histogram histogram;

  Collected() = default;
  Collected(std::initializer_list<double> values) {
    for (const double value : values) add(value);
  }
  void add(double value) {
    if (delta.add(value)) histogram.add(value);
  }
};

// A transaction with three values, and two that failed; a point, an observation of one value, a
// counter, and two increments of another.
inline std::string sample_body() {
  std::string body;
  const Collected transaction{0.5, 0.25, 1.0};
  append_delta(body, 1, TraceType::Transact, transaction.delta, transaction.histogram);
  const Collected failed{2.0, 4.0};
  append_failures(body, 1, failed.delta, failed.histogram);
  const Collected point{-1, -1, -1};
  append_delta(body, 0, TraceType::Point, point.delta, {});
  const Collected observation{-2.0};
  append_delta(body, 2, TraceType::Observe, observation.delta, observation.histogram);
  const Collected counter{10, 11};
  append_delta(body, 300, TraceType::Counter, counter.delta, {});
  Delta added;
  added.count = 2;
  added.sum = 3;
  added.last = 8;
  append_increments(body, 2, added);
  return body;
}

inline ClientCounters sample_counters() { return {1000, 900, 20, 10, 5, 2, Folded::Some}; }

inline std::string hello_pdu() { return pdu_of(append_hello, sample_hello()); }
inline std::string welcome_pdu() { return pdu_of(append_welcome, sample_welcome()); }
inline std::string tags_pdu() { return pdu_of(append_tags, sample_tags()); }
inline std::string batch_pdu() {
  return pdu_of(append_batch, 8, {{200'000'000, 100'000'000}, sample_counters()}, sample_body());
}

// Two transactions of one tag, the older one begun 1.5 seconds ago; none any more of another.
inline std::vector<OpenCount> sample_open_counts() {
  return {{1, 2, 1'500'000'000, kPid + 1}, {300, 0, 0, 0}};
}

// A batch with nothing but transactions in flight.
inline std::string in_flight_pdu() {
  std::string in_flight;
  for (const OpenCount& count : sample_open_counts()) append_open_count(in_flight, count);
  return pdu_of(append_batch, 9, {{}, {1000, 1000}, in_flight, /*in_flight_anew=*/true}, {});
}
inline std::string batch_ack_pdu() { return pdu_of(append_batch_ack, 8); }

// Asks for all slow transactions of one tag that failed, and for all observations.
inline Control sample_control() {
  return {3,
          {{7, 0, "tag=request slower=10ms limit=1000/s", kIfFailed},
           {9, 2, "tag=* limit=50/s pid=4660 kind=observe"}},
          20'000};
}

inline Welcome sample_capturing_welcome() {
  Welcome welcome = sample_welcome();
  welcome.features.reset(40).set(number_of(Feature::Events));
  welcome.last_events = 4;
  welcome.control = sample_control();
  return welcome;
}

inline constexpr TraceId kTrace{0x4bf92f3577b34da6, 0xa3ce929d0e0e4736};
inline constexpr std::uint64_t kSpan = 0x00f067aa0ba902b7;

// A server's transaction that was aborted.
inline Span sample_span() {
  static constexpr SpanAttribute kAttributes[] = {{"user", "ada"}, {"items", {}, 3}};
  static constexpr SpanLink kLinks[] = {{{0, 0x0102}, 0x0304}};
  return {.tag_id = 1,
          .kind = SpanKind::Server,
          .begin_ns = 1'763'800'000'123'456'789,
          .duration_ns = 15'000'000,
          .trace = kTrace,
          .span = kSpan,
          .parent = 0x53995c3f42cd8ad8,
          .flags = kParentIsElsewhere | 3,
          .tid = kPid + 1,
          .capture_bits = 0b101,
          .aborted = true,
          .reason = "sold out",
          .attributes = kAttributes,
          .links = kLinks,
          .left_out = 2};
}

// An observation in it.
inline Span sample_event() {
  return {.tag_id = 300,
          .kind = SpanKind::Observe,
          .begin_ns = 1'763'800'000'124'000'000,
          .trace = kTrace,
          .span = kSpan,
          .tid = kPid + 1,
          .capture_bits = 0b100,
          .value = 17};
}

inline std::vector<CaptureCount> sample_counts() {
  return {{7, 11, 1, 2, 3, 4, kAllIds / 4}, {9, 2, 0, 0, 0, 0}};
}

inline std::string sample_events_body() {
  std::string body;
  append_span(body, sample_span());
  append_span(body, sample_event());
  return body;
}

inline std::string capturing_welcome_pdu() {
  return pdu_of(append_welcome, sample_capturing_welcome());
}
inline std::string control_pdu() { return pdu_of(append_control, sample_control()); }
inline std::vector<WantedTrace> sample_wanted() { return {{0x1122334455667788, 5}, {1, 1}}; }
inline std::string events_pdu() {
  return pdu_of(append_events, 5, 3, sample_counts(), sample_wanted(), sample_events_body());
}
inline std::string wanted_pdu() { return pdu_of(append_wanted, sample_wanted()); }
inline std::string events_ack_pdu() { return pdu_of(append_events_ack, 5); }

inline std::string bye_pdu() { return pdu_of(append_bye, ByeReason::Malformed); }
inline std::string data_pdu() {
  return pdu_of(append_data, {TraceType::Point, true, kLegacyPointValue, "one"});
}
inline std::string ack_pdu() { return pdu_of(append_ack, -12010); }

inline std::vector<std::string> all_pdus() {
  return {data_pdu(),    ack_pdu(),       hello_pdu(),      welcome_pdu(), tags_pdu(),
          batch_pdu(),   in_flight_pdu(), batch_ack_pdu(),  bye_pdu(),     capturing_welcome_pdu(),
          control_pdu(), events_pdu(),    events_ack_pdu(), wanted_pdu()};
}

}  // namespace pcp::trace::wire
