// SPDX-License-Identifier: LGPL-2.1-or-later
// trace.proto is the reference: protoc must read the bytes that we write.
#include <string>

#include <gtest/gtest.h>

#include "support/read_by_protoc.hpp"
#include "unit/wire/samples.hpp"

namespace pcp::trace::wire {
namespace {

void expect_read(const std::string& message, std::string_view pdu, const std::string& text) {
  EXPECT_EQ(
      in_one_line(' ' + read_by_protoc("trace.proto", "pcp.trace." + message, payload_of(pdu))),
      in_one_line(' ' + text));
}

constexpr const char* kControlText = R"(
number: 3
captures { id: 7 filter: "tag=request slower=10ms limit=1000/s" reasons: 1 }
captures { id: 9 bit: 2 filter: "tag=* limit=50/s pid=4660 kind=observe" }
most_a_second: 20000
)";

constexpr const char* kWelcomeText = R"(
agent_instance: 72623859790382856 session_known: true last_sequence: 7
max_pdu_bytes: 1048576 max_tags: 100000
)";

TEST(Protoc, ReadsWhatWeWrite) {
  expect_read("Hello", hello_pdu(), R"(
session: "\240\241\242\243\244\245\246\247\250\251\252\253\254\255\256\257"
pid: 4660 process: "shop" service: "web"
labels { name: "zone" value: "eu" }
labels { name: "empty" }
)");
  expect_read("Welcome", welcome_pdu(), kWelcomeText + std::string("features: 1 features: 40\n"));
  expect_read("Tags", tags_pdu(), R"(
tags { name: "one" }
tags { id: 300 name: "buy a book" unit: "ms" description: "all of it" }
)");
  expect_read("Batch", batch_pdu(), R"(
sequence: 8 first_ns: 200000000 last_ns: 100000000
counters {
  recorded: 1000 sent: 900 merged: 20 thinned: 10 uncertain: 5 reconnects: 2 folded: SOME
}
deltas {
  tag: 1 type: TRANSACT count: 3 last: 1 sum: 1.75 min: 0.25
  histogram: "\000\300\376\003\002\003\036\003\036"
}
deltas {
  tag: 1 type: TRANSACT aborts: 2 failed_sum: 6 failed_min: 2 failed_max: 4
  failed_histogram: "\000\200\200\004\002\003\036"
}
deltas { type: POINT count: 3 }
deltas { tag: 2 type: OBSERVE count: 1 last: -2 histogram: "\000\201\200\004\002" }
deltas { tag: 300 type: COUNTER count: 2 last: 11 }
deltas { tag: 2 type: COUNTER count: 2 last: 8 sum: 3 added: true }
)");
  expect_read("Batch", in_flight_pdu(), R"(
sequence: 9
counters { recorded: 1000 sent: 1000 }
in_flight { tag: 1 open: 2 oldest_ns: 1500000000 tid: 4661 }
in_flight { tag: 300 }
in_flight_anew: true
)");
  expect_read("BatchAck", batch_ack_pdu(), "sequence: 8\n");
  expect_read("Welcome", capturing_welcome_pdu(),
              kWelcomeText + std::string("features: 1 features: 2 last_events: 4 control {") +
                  kControlText + "}\n");
  expect_read("Control", control_pdu(), kControlText);
  expect_read("Events", events_pdu(), R"(
sequence: 5 control: 3
spans {
  tag: 1 kind: SERVER begin_ns: 1763800000123456789 duration_ns: 15000000
  trace_high: 5474458728733560230 trace_low: 11803532876627986230
  span: 67667974448284343 parent: 6023947403358210776 flags: 259 tid: 4661 capture_bits: 5
  aborted: true reason: "sold out"
  attributes { key: "user" text: "ada" }
  attributes { key: "items" number: 3 }
  links { trace_low: 258 span: 772 }
  left_out: 2
}
spans {
  tag: 300 kind: OBSERVE begin_ns: 1763800000124000000
  trace_high: 5474458728733560230 trace_low: 11803532876627986230
  span: 67667974448284343 tid: 4661 capture_bits: 4 value: 17
}
counts {
  capture: 7 captured: 11 missed_full: 1 missed_limit: 2 missed_waiting: 3 missed_away: 4
  threshold: 18014398509481984
}
counts { capture: 9 captured: 2 }
wanted { hash: 1234605616436508552 capture_bits: 5 }
wanted { hash: 1 capture_bits: 1 }
)");
  expect_read("Wanted", wanted_pdu(), R"(
wanted { hash: 1234605616436508552 capture_bits: 5 }
wanted { hash: 1 capture_bits: 1 }
)");
  expect_read("EventsAck", events_ack_pdu(), "sequence: 5\n");
  expect_read("Bye", bye_pdu(), "reason: MALFORMED\n");
}

TEST(Protoc, KnowsEveryKindOfSpanByOurNumber) {
  std::string body;
  for (std::uint8_t kind = 1; kind < 7; ++kind)  // 0 is not written
    append_span(body, {.kind = SpanKind{kind}, .trace = {0, 1}, .span = 1, .capture_bits = 1});
  const std::string pdu = pdu_of(append_events, 1, 1, {}, {}, body);
  const std::string text = read_by_protoc("trace.proto", "pcp.trace.Events", payload_of(pdu));
  std::size_t at = 0;
  for (const char* name : {"SERVER", "CLIENT", "POINT", "OBSERVE", "COUNTER", "ADD"}) {
    at = text.find(std::string("kind: ") + name, at);
    EXPECT_NE(at, text.npos) << name;
  }
}

}  // namespace
}  // namespace pcp::trace::wire
