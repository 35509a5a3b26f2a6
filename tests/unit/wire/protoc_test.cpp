// SPDX-License-Identifier: LGPL-2.1-or-later
// trace.proto is the reference: what we encode, protoc reads; what protoc encodes, we read.
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "unit/wire/samples.hpp"

namespace pcp::trace::wire {
namespace {

class Protoc : public ::testing::Test {
 protected:
  std::string decode(const std::string& message, std::string_view payload) {
    return run("--decode=pcp.trace." + message, payload);
  }
  std::string encode(const std::string& message, std::string_view text) {
    return run("--encode=pcp.trace." + message, text);
  }

  void TearDown() override {
    std::remove(input_.c_str());
    std::remove(output_.c_str());
  }

 private:
  std::string run(const std::string& action, std::string_view input) {
    std::ofstream(input_, std::ios::binary) << input;
    const std::string command = std::string(PROTOC) + " --proto_path='" PROTO_DIRECTORY "' " +
                                action + " trace.proto <'" + input_ + "' >'" + output_ + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::ostringstream output;
    output << std::ifstream(output_, std::ios::binary).rdbuf();
    return output.str();
  }

  const std::string prefix_ = ::testing::TempDir() + "wire_protoc_" + std::to_string(getpid());
  const std::string input_ = prefix_ + ".in";
  const std::string output_ = prefix_ + ".out";
};

constexpr const char* kHelloText =
    R"(session: "\240\241\242\243\244\245\246\247\250\251\252\253\254\255\256\257"
pid: 4660
process: "shop"
service: "web"
labels {
  name: "zone"
  value: "eu"
}
labels {
  name: "empty"
}
start_time_ns: 1000000000
)";

constexpr const char* kWelcomeText = R"(agent_instance: 72623859790382856
session_known: true
last_sequence: 7
max_pdu_bytes: 1048576
max_tags: 100000
features: 1
features: 40
)";

constexpr const char* kTagsText = R"(tags {
  name: "one"
}
tags {
  id: 300
  name: "buy a book"
  unit: "ms"
  description: "all of it"
}
)";

constexpr const char* kBatchText = R"(sequence: 8
first_ns: 200000000
last_ns: 100000000
counters {
  recorded: 1000
  sent: 900
  merged: 20
  thinned: 10
  uncertain: 5
  reconnects: 2
}
deltas {
  tag: 1
  type: TRANSACT
  count: 3
  aborts: 1
  last: 1
  sum: 1.75
  min: 0.25
  histogram: "\000\300\376\003\002\003\036\003\036"
}
deltas {
  type: POINT
  count: 3
}
deltas {
  tag: 2
  type: OBSERVE
  count: 1
  last: -2
  histogram: "\000\201\200\004\002"
}
deltas {
  tag: 300
  type: COUNTER
  count: 2
  last: 11
}
deltas {
  tag: 2
  type: COUNTER
  count: 2
  last: 8
  sum: 3
  added: true
}
)";

constexpr const char* kInFlightText = R"(sequence: 9
counters {
  recorded: 1000
  sent: 1000
}
in_flight {
  tag: 1
  open: 2
  oldest_ns: 1500000000
  tid: 4661
}
in_flight {
  tag: 300
}
in_flight_anew: true
)";

constexpr const char* kCapturingWelcomeText = R"(agent_instance: 72623859790382856
session_known: true
last_sequence: 7
max_pdu_bytes: 1048576
max_tags: 100000
features: 1
features: 2
last_events: 4
control {
  number: 3
  captures {
    id: 7
    filter: "tag=request slower=10ms limit=1000/s"
  }
  captures {
    id: 9
    place: 2
    filter: "tag=* limit=50/s pid=4660 kind=observe"
  }
  most_a_second: 20000
}
)";

constexpr const char* kControlText = R"(number: 3
captures {
  id: 7
  filter: "tag=request slower=10ms limit=1000/s"
}
captures {
  id: 9
  place: 2
  filter: "tag=* limit=50/s pid=4660 kind=observe"
}
most_a_second: 20000
)";

constexpr const char* kEventsText = R"(sequence: 5
control: 3
spans {
  tag: 1
  kind: SERVER
  begin_ns: 1763800000123456789
  duration_ns: 15000000
  trace_high: 5474458728733560230
  trace_low: 11803532876627986230
  span: 67667974448284343
  parent: 6023947403358210776
  flags: 259
  tid: 4661
  places: 5
  aborted: true
  reason: "sold out"
  attributes {
    key: "user"
    text: "ada"
  }
  attributes {
    key: "items"
    number: 3
  }
  links {
    trace_low: 258
    span: 772
  }
  left_out: 2
}
spans {
  tag: 300
  kind: OBSERVE
  begin_ns: 1763800000124000000
  trace_high: 5474458728733560230
  trace_low: 11803532876627986230
  span: 67667974448284343
  tid: 4661
  places: 4
  value: 17
}
counts {
  capture: 7
  captured: 11
  missed_full: 1
  missed_limit: 2
  missed_waiting: 3
  missed_away: 4
}
counts {
  capture: 9
  captured: 2
}
)";

TEST_F(Protoc, ReadsHello) { EXPECT_EQ(decode("Hello", payload_of(hello_pdu())), kHelloText); }

TEST_F(Protoc, ReadsWelcome) {
  EXPECT_EQ(decode("Welcome", payload_of(welcome_pdu())), kWelcomeText);
}

TEST_F(Protoc, ReadsTags) { EXPECT_EQ(decode("Tags", payload_of(tags_pdu())), kTagsText); }

TEST_F(Protoc, ReadsBatch) { EXPECT_EQ(decode("Batch", payload_of(batch_pdu())), kBatchText); }

TEST_F(Protoc, ReadsABatchOfWhatIsInFlight) {
  EXPECT_EQ(decode("Batch", payload_of(in_flight_pdu())), kInFlightText);
}

TEST_F(Protoc, ReadsBatchAck) {
  EXPECT_EQ(decode("BatchAck", payload_of(batch_ack_pdu())), "sequence: 8\n");
}

TEST_F(Protoc, ReadsTheWelcomeOfAnAgentThatCaptures) {
  EXPECT_EQ(decode("Welcome", payload_of(capturing_welcome_pdu())), kCapturingWelcomeText);
}

TEST_F(Protoc, ReadsControl) {
  EXPECT_EQ(decode("Control", payload_of(control_pdu())), kControlText);
}

TEST_F(Protoc, ReadsEvents) { EXPECT_EQ(decode("Events", payload_of(events_pdu())), kEventsText); }

TEST_F(Protoc, ReadsEventsAck) {
  EXPECT_EQ(decode("EventsAck", payload_of(events_ack_pdu())), "sequence: 5\n");
}

TEST_F(Protoc, ReadsBye) { EXPECT_EQ(decode("Bye", payload_of(bye_pdu())), "reason: MALFORMED\n"); }

TEST_F(Protoc, WritesAHelloThatWeRead) {
  const auto hello = decode_hello(encode("Hello", kHelloText));
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->session, sample_hello().session);
  EXPECT_EQ(hello->pid, kPid);
  EXPECT_EQ(hello->process, "shop");
  EXPECT_EQ(hello->service, "web");
  EXPECT_EQ(hello->labels, sample_hello().labels);
  EXPECT_EQ(hello->start_time_ns, 1'000'000'000u);
}

TEST_F(Protoc, WritesAWelcomeThatWeRead) {
  const auto welcome = decode_welcome(encode("Welcome", kWelcomeText));
  ASSERT_TRUE(welcome);
  EXPECT_EQ(welcome->agent_instance, 0x0102030405060708u);
  EXPECT_TRUE(welcome->session_known);
  EXPECT_EQ(welcome->last_sequence, 7u);
  EXPECT_EQ(welcome->max_pdu_bytes, 1u << 20);
  EXPECT_EQ(welcome->max_tags, 100'000u);
  EXPECT_EQ(welcome->features, FeatureSet().set(1).set(40));
}

TEST_F(Protoc, WritesTagsThatWeRead) {
  const std::string payload = encode("Tags", kTagsText);
  std::vector<TagDefinition> tags;
  ASSERT_TRUE(decode_tags(payload, tags));
  ASSERT_EQ(tags.size(), 2u);
  EXPECT_EQ(tags[0].id, 0u);
  EXPECT_EQ(tags[0].name, "one");
  EXPECT_EQ(tags[1].id, 300u);
  EXPECT_EQ(tags[1].name, "buy a book");
  EXPECT_EQ(tags[1].unit, "ms");
  EXPECT_EQ(tags[1].description, "all of it");
}

// It writes the fields in the same order, so its bytes are ours.
TEST_F(Protoc, WritesTheBatchesThatWeWrite) {
  EXPECT_EQ(encode("Batch", kBatchText), payload_of(batch_pdu()));
  EXPECT_EQ(encode("Batch", kInFlightText), payload_of(in_flight_pdu()));
}

TEST_F(Protoc, WritesABatchThatWeRead) {
  const std::string payload = encode("Batch", kBatchText);
  Batch batch;
  ASSERT_TRUE(decode_batch(payload, batch));
  EXPECT_EQ(batch.sequence, 8u);
  EXPECT_EQ(batch.age.first_ns, 200'000'000u);
  EXPECT_EQ(batch.counters.reconnects, 2u);
  ASSERT_EQ(batch.entries.size(), 5u);
  const DeltaEntry& transaction = batch.entries[0];
  EXPECT_EQ(transaction.tag_id, 1u);
  EXPECT_EQ(transaction.delta.count, 3u);
  EXPECT_EQ(transaction.delta.aborts, 1u);
  EXPECT_EQ(transaction.delta.unbinned, 0u);
  EXPECT_EQ(transaction.delta.sum, 1.75);
  EXPECT_EQ(transaction.delta.min, 0.25);
  EXPECT_EQ(transaction.delta.max, 1);
  EXPECT_EQ(transaction.delta.last, 1);
}

TEST_F(Protoc, WritesABatchAckThatWeRead) {
  EXPECT_EQ(decode_batch_ack(encode("BatchAck", "sequence: 8")), 8u);
}

// Our bytes: so what we write of all of these, and read again, is what trace.proto says.
TEST_F(Protoc, WritesTheCapturesThatWeWrite) {
  EXPECT_EQ(encode("Welcome", kCapturingWelcomeText), payload_of(capturing_welcome_pdu()));
  EXPECT_EQ(encode("Control", kControlText), payload_of(control_pdu()));
  EXPECT_EQ(encode("Events", kEventsText), payload_of(events_pdu()));
  EXPECT_EQ(encode("EventsAck", "sequence: 5"), payload_of(events_ack_pdu()));
}

TEST_F(Protoc, KnowsEveryKindOfSpanByOurNumber) {
  const std::pair<const char*, SpanKind> kinds[] = {{"INTERNAL", SpanKind::Internal},
                                                    {"SERVER", SpanKind::Server},
                                                    {"CLIENT", SpanKind::Client},
                                                    {"POINT", SpanKind::Point},
                                                    {"OBSERVE", SpanKind::Observe},
                                                    {"COUNTER", SpanKind::Counter},
                                                    {"ADD", SpanKind::Add}};
  std::string text = "sequence: 1 control: 1";
  for (const auto& [name, kind] : kinds)
    text += std::string(" spans { places: 1 trace_low: 1 span: 1 kind: ") + name + " }";
  const std::string payload = encode("Events", text);
  Events events;
  ASSERT_TRUE(decode_events(payload, events));
  ASSERT_EQ(events.spans.size(), std::size(kinds));
  for (std::size_t i = 0; i < std::size(kinds); ++i)
    EXPECT_EQ(events.spans[i].kind, kinds[i].second) << kinds[i].first;
}

TEST_F(Protoc, WritesAByeThatWeRead) {
  EXPECT_EQ(decode_bye(encode("Bye", "reason: TOO_MANY_TAGS")), ByeReason::TooManyTags);
  EXPECT_EQ(decode_bye(encode("Bye", "")), ByeReason::Done);
}

}  // namespace
}  // namespace pcp::trace::wire
