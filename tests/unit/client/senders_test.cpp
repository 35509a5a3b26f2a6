// SPDX-License-Identifier: LGPL-2.1-or-later
// The messages of the two senders to their agents, and how they take the answers.
#include <unistd.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "capturing.hpp"
#include "counts/legacy_session.hpp"
#include "deltas.hpp"
#include "process/agent_session.hpp"
#include "support/add_records.hpp"
#include "support/encoded.hpp"
#include "support/pdus.hpp"
#include "support/scarce_memory.hpp"
#include "tags/description.hpp"

namespace pcp::trace::client {
namespace {

constexpr std::uint64_t kNow = 1'000'000'000;

// The bytes for the agent.
struct Heard {
  std::vector<KeptPdu> take() { return take_pdus(reader, std::exchange(out, {})); }
  std::vector<wire::PduType> take_types() {
    std::vector<wire::PduType> types;
    for (const KeptPdu& pdu : take()) types.push_back(pdu.type);
    return types;
  }

  std::string out;
  wire::FrameReader reader{1 << 20};
};

const std::vector<wire::PduType> kTagsAndBatch{wire::PduType::Tags, wire::PduType::Batch};

// The definitions in a TAGS; none in another PDU.
std::vector<wire::TagDefinition> definitions_in(const KeptPdu& pdu) {
  std::vector<wire::TagDefinition> definitions;
  if (pdu.type == wire::PduType::Tags) {
    EXPECT_TRUE(wire::decode_tags(pdu.payload, definitions));
  }
  return definitions;
}

using wire::pdu_of;

// A message of an agent, as the sender gets it.
wire::Frame frame_of(const std::string& pdu) {
  return {wire::type_of(pdu), wire::kPid, wire::payload_of(pdu)};
}

struct SessionTest : testing::Test {
  Heard heard;
  Doorbell doorbell;
  Recorders recorders{doorbell, 64};
  DeliveryCounters counters;
  Outbox outbox{recorders, {}, counters, [] { return wire::ClientCounters{}; }};
  Pending& pending = outbox.pending;
  AgentSession sender{outbox, ClientOptions{}};

  void connect() {
    sender.on_connected(heard.out);
    EXPECT_EQ(heard.take_types(), std::vector{wire::PduType::Hello});
  }
  bool welcome(std::uint64_t agent, bool knows_session, std::uint64_t last_sequence,
               const wire::FeatureSet& features = {}, std::uint64_t now_ns = kNow) {
    const wire::Welcome welcome{.agent_instance = agent,
                                .session_known = knows_session,
                                .last_sequence = last_sequence,
                                .max_pdu_bytes = 1 << 20,
                                .features = features};
    return answer(pdu_of(wire::append_welcome, welcome), now_ns);
  }
  bool answer(const std::string& pdu, std::uint64_t now_ns = kNow) {
    return sender.on_pdu(frame_of(pdu), now_ns, heard.out);
  }
  bool say_goodbye_of(wire::ByeReason reason) { return answer(pdu_of(wire::append_bye, reason)); }
  // Connects to an agent that does not know the session.
  void begin(const wire::FeatureSet& features = {}) {
    connect();
    EXPECT_TRUE(welcome(1, false, 0, features));
  }
  void reconnect() {
    heard.take();
    sender.on_disconnected(kNow);
    connect();
  }
  bool reconnect_to(std::uint64_t agent, bool knows_session, std::uint64_t last_sequence,
                    const wire::FeatureSet& features = {}, std::uint64_t now_ns = kNow) {
    reconnect();
    return welcome(agent, knows_session, last_sequence, features, now_ns);
  }
  bool acknowledge(std::uint64_t sequence, std::uint64_t now_ns = kNow) {
    return answer(pdu_of(wire::append_batch_ack, sequence), now_ns);
  }
  void record(const std::string& name = "sent", std::uint64_t now_ns = kNow) {
    add_records(pending, std::vector<Record>{{intern_tag(name), 1, RecordKind::Observe}}, now_ns);
  }
  void flush() { sender.send_pending(pending.queued(), kNow, heard.out); }
  void record_batches(int batches) {
    for (int i = 0; i < batches; ++i) {
      record();
      flush();
    }
  }
  // The batches that were sent since the last call.
  std::vector<wire::Batch> take_batches() {
    kept_ = heard.take();
    std::vector<wire::Batch> batches;
    for (const KeptPdu& pdu : kept_) {
      if (pdu.type != wire::PduType::Batch) continue;
      EXPECT_TRUE(wire::decode_batch(pdu.payload, batches.emplace_back()));
    }
    return batches;
  }
  // The only one.
  wire::Batch take_batch() {
    const auto batches = take_batches();
    EXPECT_EQ(batches.size(), 1u);
    return batches.at(0);
  }
  std::vector<std::uint64_t> take_sequences() {
    std::vector<std::uint64_t> sequences;
    for (const wire::Batch& batch : take_batches()) sequences.push_back(batch.sequence);
    return sequences;
  }

 private:
  std::vector<KeptPdu> kept_;
};

using Sequences = std::vector<std::uint64_t>;

struct InFlightTest : SessionTest {
  Recorder& recorder = *recorders.reuse_or_make();
  wire::FeatureSet feature = wire::FeatureSet().set(wire::number_of(wire::Feature::InFlight));

  void begin_one(const char* tag = "in flight") {
    recorder.begin_traced(intern_tag(tag));
    outbox.open.scan(recorders);
  }
};

TEST_F(InFlightTest, IsToldBeforeTheGoodbye) {
  begin_one();
  begin(feature);
  EXPECT_FALSE(sender.say_goodbye(heard.out));
  flush();
  EXPECT_TRUE(sender.say_goodbye(heard.out));
}

TEST_F(InFlightTest, IsToldInABatchWithoutCalls) {
  begin_one();
  begin(feature);
  flush();
  EXPECT_FALSE(sender.has_told_open());
  EXPECT_TRUE(acknowledge(1));
  EXPECT_TRUE(sender.has_told_open());
  const wire::Batch batch = take_batch();
  EXPECT_TRUE(batch.entries.empty());
  EXPECT_TRUE(batch.in_flight_anew);
  ASSERT_EQ(batch.in_flight.size(), 1U);
  EXPECT_EQ(batch.in_flight[0].open, 1U);
  flush();
  EXPECT_TRUE(take_batches().empty());  // nothing is new
}

TEST_F(InFlightTest, IsNotToldToAnAgentThatCannotTakeIt) {
  begin_one();
  begin();
  record_batches(1);
  EXPECT_TRUE(sender.has_told_open());
  const wire::Batch batch = take_batch();
  EXPECT_TRUE(batch.in_flight.empty());
  EXPECT_FALSE(batch.in_flight_anew);
}

TEST_F(InFlightTest, IsToldAnewWithABatchThatIsSentAgain) {
  begin(feature);
  record_batches(1);
  begin_one();
  reconnect();
  EXPECT_FALSE(sender.has_told_open());
  EXPECT_TRUE(welcome(1, true, 0, feature));
  const wire::Batch batch = take_batch();
  EXPECT_EQ(batch.entries.size(), 1U);
  EXPECT_TRUE(batch.in_flight_anew);
  EXPECT_EQ(batch.in_flight.size(), 1U);
}

TEST_F(InFlightTest, IsToldAgainWhereTheAgentReadItLate) {
  begin_one();
  begin(feature);
  flush();
  EXPECT_TRUE(acknowledge(1, kNow + 1'000'000'000));
  EXPECT_EQ(take_sequences(), Sequences{1});
  flush();
  EXPECT_EQ(take_sequences(), Sequences{2});
  EXPECT_TRUE(acknowledge(2));
  flush();
  EXPECT_TRUE(take_batches().empty());
}

TEST_F(SessionTest, SaysNothingBeforeItIsWelcome) {
  connect();
  record();
  flush();
  EXPECT_FALSE(sender.is_ready());
  EXPECT_FALSE(sender.say_goodbye(heard.out));
  EXPECT_TRUE(heard.take().empty());
  EXPECT_TRUE(welcome(1, false, 0));
  EXPECT_TRUE(sender.is_ready());
  flush();
  EXPECT_TRUE(sender.say_goodbye(heard.out));
  EXPECT_EQ(heard.take_types(),
            (std::vector{wire::PduType::Tags, wire::PduType::Batch, wire::PduType::Bye}));
}

TEST_F(SessionTest, DefinesATagOnceAConnection) {
  begin();
  record_batches(1);
  EXPECT_EQ(heard.take_types(), kTagsAndBatch);
  record_batches(1);
  EXPECT_EQ(heard.take_types(), std::vector{wire::PduType::Batch});
  EXPECT_TRUE(reconnect_to(1, true, 2));
  record_batches(1);
  EXPECT_EQ(heard.take_types(), kTagsAndBatch);
}

TEST_F(SessionTest, HasFourBatchesOnTheirWayAtMost) {
  begin();
  record_batches(6);
  EXPECT_EQ(take_sequences(), (Sequences{1, 2, 3, 4}));
  EXPECT_TRUE(acknowledge(2));
  flush();  // later calls have been added up
  EXPECT_EQ(take_batch().entries.at(0).delta.count, 2u);
}

TEST_F(SessionTest, SettlesWhatIsAcknowledged) {
  begin();
  record_batches(3);
  EXPECT_FALSE(sender.has_settled(1));
  EXPECT_TRUE(acknowledge(2));
  EXPECT_EQ(counters.acknowledged, 2u);
  EXPECT_TRUE(sender.has_settled(2));
  EXPECT_FALSE(sender.has_settled(3));
  EXPECT_TRUE(acknowledge(3));
  EXPECT_TRUE(sender.has_settled(3));
}

TEST_F(SessionTest, SendsAgainWhatTheAgentHasNotApplied) {
  begin();
  record_batches(3);
  EXPECT_EQ(take_sequences(), (Sequences{1, 2, 3}));
  EXPECT_TRUE(reconnect_to(1, true, 2));
  EXPECT_EQ(take_sequences(), Sequences{3});
  EXPECT_EQ(counters.acknowledged, 2u);
  EXPECT_EQ(counters.uncertain, 0u);
  EXPECT_EQ(counters.sent, 3u);
}

TEST_F(SessionTest, SendsAllAgainToAnotherAgent) {
  begin();
  record_batches(2);
  reconnect();
  const wire::Welcome impossible{
      .agent_instance = 2,
      .max_pdu_bytes = 1 << 20,
      .features = wire::FeatureSet().set(wire::number_of(wire::Feature::Events)),
      .last_events = 1};
  EXPECT_FALSE(answer(pdu_of(wire::append_welcome, impossible)));
  EXPECT_TRUE(reconnect_to(2, false, 0));
  EXPECT_EQ(take_sequences(), (Sequences{1, 2}));
  EXPECT_EQ(counters.uncertain, 0u);
}

// The agent may have applied the batches before it forgot the session.
TEST_F(SessionTest, SendsNothingAgainToAnAgentThatHasForgottenTheSession) {
  begin();
  record_batches(2);
  EXPECT_TRUE(reconnect_to(1, false, 0));
  EXPECT_TRUE(take_sequences().empty());
  EXPECT_EQ(counters.uncertain, 2u);
  EXPECT_TRUE(sender.has_settled(2));
}

// An earlier HELLO has opened the session anew, and its WELCOME got lost.
TEST_F(SessionTest, SendsNothingAgainToAnAgentThatKnowsTheSessionByItsNameOnly) {
  begin();
  record_batches(3);
  EXPECT_TRUE(acknowledge(1));
  EXPECT_TRUE(reconnect_to(1, true, 0));
  EXPECT_TRUE(take_sequences().empty());
  EXPECT_EQ(counters.uncertain, 2u);
  EXPECT_EQ(counters.acknowledged, 1u);
  // From now on the session is like any other.
  record_batches(1);
  EXPECT_TRUE(reconnect_to(1, true, 0));
  EXPECT_EQ(take_sequences(), Sequences{4});
  EXPECT_TRUE(acknowledge(4));
  // The next agent finds it normal, too.
  record_batches(1);
  for (const bool knows_session : {false, true}) {
    EXPECT_TRUE(reconnect_to(2, knows_session, 0));
    EXPECT_EQ(take_sequences(), Sequences{5});
  }
  EXPECT_EQ(counters.uncertain, 2u);
}

struct SpansTest : SessionTest {
  Recorder& recorder = *recorders.reuse_or_make();
  const wire::Control asked{
      .number = 1, .captures = {{7, 0, "tag=captured limit=100/s"}}, .most_a_second = 1'000'000};
  wire::Events events;
  const int state_before = replace_state(PMTRACE_STATE_NONE);

  ~SpansTest() override {
    recorders.captures().publish(nullptr);
    replace_state(state_before);
  }
  void be_welcomed(bool knows_session) {
    sender.on_disconnected(kNow);
    connect();
    const wire::Welcome welcome{
        .agent_instance = 1,
        .session_known = knows_session,
        .max_pdu_bytes = 1 << 20,
        .features = wire::FeatureSet().set(wire::number_of(wire::Feature::Events)),
        .control = asked};
    EXPECT_TRUE(answer(pdu_of(wire::append_welcome, welcome)));
  }
  void trace() { run_on(recorder, intern_tag("captured")); }
  // The count of the capture in the next EVENTS.
  wire::CaptureCount count() {
    flush();
    kept_ = heard.take();
    for (const KeptPdu& pdu : kept_)
      if (pdu.type == wire::PduType::Events && wire::decode_events(pdu.payload, events) &&
          events.counts.size() == 1)
        return events.counts.front();
    ADD_FAILURE() << "no EVENTS with a count";
    return {};
  }

 private:
  std::vector<KeptPdu> kept_;
};

// The same, recognised by spans alone.
TEST_F(SpansTest, AreNotCountedTwiceByAnAgentThatKnowsTheSessionByItsNameOnly) {
  be_welcomed(false);
  trace();
  EXPECT_EQ(count(), (wire::CaptureCount{.capture = 7, .captured = 1}));
  EXPECT_TRUE(answer(pdu_of(wire::append_events_ack, 1)));
  be_welcomed(true);
  trace();
  EXPECT_EQ(count(), (wire::CaptureCount{.capture = 7, .captured = 1}));
  be_welcomed(true);  // the EVENTS on their way are sent again
  EXPECT_EQ(count(), (wire::CaptureCount{.capture = 7, .captured = 1}));
}

TEST_F(SpansTest, TellTheThresholdOfTheLimit) {
  be_welcomed(false);
  for (int i = 0; i < 150; ++i) trace();
  EXPECT_GT(count().threshold, 0u);
}

TEST_F(SpansTest, AreGivenUpIfTheAgentCannotReadThem) {
  be_welcomed(false);
  trace();
  count();
  record_batches(1);
  EXPECT_FALSE(say_goodbye_of(wire::ByeReason::Malformed));
  EXPECT_EQ(counters.uncertain, 0u);
  heard.take();
  be_welcomed(true);
  EXPECT_EQ(take_sequences(), Sequences{1});
  trace();
  EXPECT_EQ(count(), (wire::CaptureCount{.capture = 7, .captured = 2, .missed_away = 1}));
}

TEST_F(SpansTest, AreSentAgainIfTheAgentCannotReadTheBatchBeforeThem) {
  be_welcomed(false);
  record_batches(1);
  trace();
  count();
  EXPECT_FALSE(say_goodbye_of(wire::ByeReason::Malformed));
  EXPECT_EQ(counters.uncertain, 1u);
  be_welcomed(true);
  EXPECT_EQ(count(), (wire::CaptureCount{.capture = 7, .captured = 1}));
}

TEST_F(SpansTest, AreNoReasonToDoubtAnAgentThatTakesNone) {
  be_welcomed(false);
  trace();
  count();
  EXPECT_TRUE(answer(pdu_of(wire::append_events_ack, 1)));
  record_batches(1);
  for (const bool knows_session : {false, true}) {
    EXPECT_TRUE(reconnect_to(2, knows_session, 0));
    EXPECT_EQ(take_sequences(), Sequences{1});
  }
}

TEST_F(SessionTest, HangsUpOnAnAgentThatAcknowledgesWhatItNeverGot) {
  begin();
  record_batches(1);
  EXPECT_FALSE(acknowledge(2));
  EXPECT_EQ(counters.acknowledged, 0u);
}

TEST_F(SessionTest, HangsUpOnAnAgentThatTakesTooLittle) {
  connect();
  wire::Welcome small{
      .agent_instance = 1, .max_pdu_bytes = wire::kLeastMaxPduBytes - 1, .features = {}};
  EXPECT_FALSE(answer(pdu_of(wire::append_welcome, small)));
  EXPECT_FALSE(sender.is_ready());
  ++small.max_pdu_bytes;
  EXPECT_TRUE(answer(pdu_of(wire::append_welcome, small)));
  EXPECT_TRUE(sender.is_ready());
}

TEST_F(SessionTest, HangsUpOnASecondWelcome) {
  begin();
  EXPECT_FALSE(welcome(1, true, 0));
}

TEST_F(SessionTest, GivesUpTheBatchThatTheAgentCannotRead) {
  begin();
  record_batches(2);
  EXPECT_FALSE(say_goodbye_of(wire::ByeReason::Malformed));
  EXPECT_EQ(counters.uncertain, 1u);
  reconnect();
  EXPECT_FALSE(say_goodbye_of(wire::ByeReason::Malformed));  // nothing was sent on this connection
  EXPECT_TRUE(reconnect_to(1, true, 0));
  EXPECT_EQ(take_sequences(), Sequences{2});
  EXPECT_FALSE(say_goodbye_of(wire::ByeReason::Done));
  EXPECT_EQ(counters.uncertain, 1u);
}

TEST_F(SessionTest, SaysHowOldItsCallsAreEachTimeItSendsThem) {
  begin();
  record("old", kNow - 10);
  record("older", kNow - 30);
  flush();
  EXPECT_TRUE(reconnect_to(1, true, 0, {}, kNow + 100));
  const wire::BatchAge age = take_batch().age;
  EXPECT_EQ(age.first_ns, 130u);
  EXPECT_EQ(age.last_ns, 110u);
}

TEST_F(SessionTest, MakesAsManyBatchesAsAnyAgentTakes) {
  begin();
  std::vector<Record> records;
  for (int tag = 0; tag < 500; ++tag)
    for (int value = 1; value < 200; ++value)
      records.emplace_back(intern_tag("wide " + std::to_string(tag)), 1.1 * value * value,
                           RecordKind::Observe);
  add_records(pending, records, kNow);
  flush();
  std::uint64_t calls = 0;
  const auto pdus = heard.take();
  for (const KeptPdu& pdu : pdus) {
    EXPECT_LE(pdu.payload.size() + wire::kHeaderBytes, wire::kLeastMaxPduBytes);
    wire::Batch batch;
    if (pdu.type != wire::PduType::Batch || !wire::decode_batch(pdu.payload, batch)) continue;
    for (const wire::DeltaEntry& entry : batch.entries) calls += entry.delta.count;
  }
  EXPECT_GT(counters.batches, 1u);
  EXPECT_EQ(calls, counters.sent);
}

TEST_F(SessionTest, SaysWhatATagStandsForOnceOnEachConnection) {
  begin();
  const auto said = [this] {
    record("described later");
    flush();
    std::vector<std::string> texts;
    for (const KeptPdu& pdu : heard.take())
      for (const auto& each : definitions_in(pdu))
        texts.push_back(std::string(each.unit) + ":" + std::string(each.description));
    return texts;
  };
  using Said = std::vector<std::string>;
  EXPECT_EQ(said(), Said{":"});
  const Tag* const tag = intern_tag("described later");
  ASSERT_TRUE(describe(*tag, "ms", std::string(253, 'x') + "ö"));
  ASSERT_TRUE(describe(*tag, "s", "too late"));
  const Said whole{"ms:" + std::string(253, 'x')};
  EXPECT_EQ(said(), whole);
  EXPECT_EQ(said(), Said{});
  EXPECT_TRUE(reconnect_to(1, true, 0, {}, kNow));
  EXPECT_EQ(said(), whole);
}

// The description goes with a batch without calls: so it is acknowledged, and sent again.
TEST_F(SessionTest, SaysWhatATagStandsForThatNobodyCallsAnyMore) {
  begin();
  const Tag* const tag = intern_tag("described last");
  EXPECT_FALSE(pending.redefine(*tag));
  record("described last");
  EXPECT_TRUE(pending.redefine(*tag));  // goes with the recorded call
  flush();
  EXPECT_EQ(heard.take_types(), kTagsAndBatch);
  EXPECT_TRUE(acknowledge(1));

  ASSERT_TRUE(describe(*tag, "ms", "all of it"));
  EXPECT_TRUE(pending.redefine(*tag));
  EXPECT_TRUE(pending.redefine(*tag));
  for (const std::uint64_t now_ns : {kNow, kNow + 100}) {
    flush();
    const auto pdus = heard.take();
    ASSERT_EQ(pdus.size(), 2u);
    const auto definitions = definitions_in(pdus[0]);
    ASSERT_EQ(definitions.size(), 1u);
    EXPECT_EQ(definitions.front().description, "all of it");
    wire::Batch batch;
    ASSERT_TRUE(wire::decode_batch(pdus[1].payload, batch));
    EXPECT_TRUE(batch.entries.empty());
    EXPECT_EQ(batch.sequence, 2u);
    EXPECT_FALSE(sender.has_settled(pending.popped()));
    if (now_ns == kNow) {
      EXPECT_TRUE(reconnect_to(1, true, 1, {}, now_ns));
    }
  }
  EXPECT_TRUE(acknowledge(2));
  EXPECT_TRUE(sender.has_settled(pending.popped()));
  EXPECT_EQ(counters.sent, 1u);
}

TEST_F(SessionTest, DefinesTagsInPdusThatAnyAgentTakes) {
  begin();
  for (int tag = 0; tag < 500; ++tag) record(std::string(250, 'x') + std::to_string(tag));
  flush();
  std::size_t defined = 0;
  const auto pdus = heard.take();
  for (const KeptPdu& pdu : pdus) {
    EXPECT_LE(pdu.payload.size() + wire::kHeaderBytes, wire::kLeastMaxPduBytes);
    defined += definitions_in(pdu).size();
  }
  EXPECT_EQ(defined, 500u);
}

// Its 131,000 bins take more bytes than an agent must accept.
TEST_F(SessionTest, CoarsensADistributionThatIsTooWide) {
  begin();
  std::vector<Record> records;
  for (int exponent = -1022; exponent < 1024; ++exponent)
    for (int bin = 0; bin < 32; ++bin)
      for (const double sign : {-1.0, 1.0})
        records.emplace_back(intern_tag("all"), std::ldexp(sign * (1 + bin / 32.0), exponent),
                             RecordKind::Observe);
  add_records(pending, records, kNow);
  flush();
  Histogram histogram;
  EXPECT_TRUE(histogram.merge_packed(take_batch().entries.at(0).histogram));
  EXPECT_EQ(histogram.total(), records.size());
  EXPECT_EQ(counters.thinned, 0u);
}

TEST_F(SessionTest, CountsAbortsAndValuesThatAreInNoDistribution) {
  begin();
  OverflowCell cell{intern_tag("merged"), RecordKind::Observe, {}};
  for (const double value : {1.0, 2.0, HUGE_VAL}) cell.delta.add(value);
  pending.make_room(1);
  pending.add(cell, kNow);
  add_records(pending, std::vector<Record>(4, {intern_tag("aborted"), 1, RecordKind::Abort}), kNow);
  flush();
  EXPECT_EQ(take_batch().entries.at(0).delta.unbinned, 2u);
  EXPECT_EQ(counters.thinned, 2u);
  EXPECT_EQ(counters.aborted, 4u);
}

TEST_F(SessionTest, SendsIncrementsWithAllThatWasEverAdded) {
  begin();
  const std::vector<Record> records(3, {intern_tag("added"), 2, RecordKind::Add});
  for (const double total : {6, 12}) {
    add_records(pending, records, kNow);
    flush();
    const wire::DeltaEntry entry = take_batch().entries.at(0);
    EXPECT_TRUE(entry.is_added);
    EXPECT_EQ(entry.type, TraceType::Counter);
    EXPECT_EQ(entry.delta, (Delta{.count = 3, .sum = 6, .last = total}));
  }
}

TEST_F(SessionTest, SaysWhoItIs) {
  ClientOptions options;
  options.process = "program";
  options.service = "shop";
  options.labels = {{"zone", "eu"}};
  AgentSession(outbox, options).on_connected(heard.out);
  const auto pdus = heard.take();
  const auto hello = wire::decode_hello(pdus.front().payload);
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->process, options.process);
  EXPECT_EQ(hello->service, options.service);
  EXPECT_EQ(hello->labels, options.labels);
  EXPECT_EQ(hello->pid, static_cast<std::uint32_t>(::getpid()));
}

TEST_F(SessionTest, KnowsWhatTheAgentHasOfItsWelcome) {
  EXPECT_FALSE(sender.has_feature(static_cast<wire::Feature>(3)));
  begin(wire::FeatureSet().set(3));
  EXPECT_TRUE(sender.has_feature(static_cast<wire::Feature>(3)));
  EXPECT_FALSE(sender.has_feature(static_cast<wire::Feature>(4)));
  reconnect();
  EXPECT_FALSE(sender.has_feature(static_cast<wire::Feature>(3)));
  EXPECT_TRUE(welcome(2, false, 0, wire::FeatureSet().set(4)));
  EXPECT_FALSE(sender.has_feature(static_cast<wire::Feature>(3)));
  EXPECT_TRUE(sender.has_feature(static_cast<wire::Feature>(4)));
}

TEST_F(SessionTest, PassesOverPdusFromATimeToCome) {
  begin();
  EXPECT_TRUE(sender.on_pdu({wire::PduType{0x7099}, 1, "news"}, kNow, heard.out));
  EXPECT_TRUE(sender.is_ready());
}

TEST_F(SessionTest, SendsNothingAfterItsGoodbyeButOnTheNextConnection) {
  begin();
  EXPECT_TRUE(sender.say_goodbye(heard.out));
  heard.take();
  EXPECT_FALSE(sender.say_goodbye(heard.out));
  record_batches(1);
  EXPECT_TRUE(heard.take().empty());
  EXPECT_TRUE(reconnect_to(1, false, 0));
  flush();
  EXPECT_EQ(heard.take_types(), kTagsAndBatch);
  EXPECT_TRUE(sender.say_goodbye(heard.out));
}

struct LegacySessionTest : testing::Test {
  Heard heard;
  Pending pending;
  DeliveryCounters counters;
  LegacySession sender{pending, counters};

  LegacySessionTest() { sender.on_connected(heard.out); }

  void record(const std::string& name, int calls, RecordKind kind = RecordKind::Observe,
              double value = 2) {
    add_records(
        pending,
        std::vector<Record>(static_cast<std::size_t>(calls), {intern_tag(name), value, kind}),
        kNow);
  }
  void flush() { sender.send_pending(pending.queued(), kNow, heard.out); }
  bool acknowledge(std::int32_t code) {
    if (!sender.on_pdu(frame_of(pdu_of(wire::append_ack, code)), kNow, heard.out)) return false;
    flush();
    return true;
  }
};

TEST_F(LegacySessionTest, HasOneChunkOnItsWay) {
  record("chunks", 100);
  flush();
  const auto first = heard.take();
  flush();
  EXPECT_TRUE(heard.take().empty());
  std::size_t bytes = 0;
  for (const KeptPdu& pdu : first) bytes += wire::kHeaderBytes + pdu.payload.size();
  EXPECT_LE(bytes, 1024u);
  EXPECT_LT(first.size(), 100u);
  for (const KeptPdu& pdu : first)  // the answer to the last one stands for all
    EXPECT_EQ(wire::decode_data(pdu.payload)->wants_ack, &pdu == &first.back());
  EXPECT_TRUE(acknowledge(0));
  EXPECT_EQ(counters.acknowledged, first.size());
  EXPECT_FALSE(heard.take().empty());
}

TEST_F(LegacySessionTest, SendsNothingBeforeItIsConnected) {
  LegacySession early{pending, counters};
  record("early", 1);
  early.send_pending(pending.queued(), kNow, heard.out);
  EXPECT_TRUE(heard.take().empty());
  early.on_connected(heard.out);
  early.send_pending(pending.queued(), kNow, heard.out);
  EXPECT_EQ(heard.take().size(), 1u);
}

TEST_F(LegacySessionTest, PassesOverWhatIsSaidOfATag) {
  record("mentioned", 1);
  flush();
  EXPECT_TRUE(acknowledge(0));
  EXPECT_TRUE(pending.redefine(*intern_tag("mentioned")));
  heard.take();
  flush();
  EXPECT_TRUE(heard.take().empty());
  EXPECT_TRUE(pending.empty());
  EXPECT_TRUE(sender.has_settled(2));
}

TEST_F(LegacySessionTest, SettlesAllInTheEnd) {
  record("settled", 100);
#ifdef TRACE_SCARCE_MEMORY
  {
    const ScarceMemory scarce(1);
    EXPECT_TRUE(throws([this] { flush(); }));
  }
#endif
  flush();
  for (int chunk = 0; chunk < 100 && !sender.has_settled(1); ++chunk) EXPECT_TRUE(acknowledge(0));
  EXPECT_TRUE(sender.has_settled(1));
  EXPECT_EQ(counters.acknowledged, 100u);
}

TEST_F(LegacySessionTest, DoubtsAChunkWhoseAnswerIsLostAndPutsTheRestBack) {
  record("doubted", 1, RecordKind::Observe, 5);
  record("doubted", 99);
  flush();
  const std::size_t sent = heard.take().size();
  // Each observation sent has the last value, as have those that are left.
  for (int time = 0; time < 2; ++time) {  // the second time changes nothing
    sender.on_disconnected(kNow);
    EXPECT_EQ(counters.uncertain, sent);
    EXPECT_TRUE(sender.has_settled(1));
    const Pending::Entry& rest = pending.front();
    EXPECT_EQ(rest.delta.count, 100 - sent);
    EXPECT_EQ(rest.delta.sum, 2.0 * static_cast<double>(rest.delta.count));
    EXPECT_EQ(rest.delta.max, 2);
    EXPECT_EQ(rest.first_ns, kNow);
    EXPECT_EQ(rest.last_ns, kNow);
  }
}

TEST_F(LegacySessionTest, SendsAllThatWasAddedAsACountersValue) {
  record("added", 3, RecordKind::Add);
  flush();
  const auto sent = heard.take();
  EXPECT_EQ(sent.size(), 3u);
  for (const KeptPdu& pdu : sent) {
    EXPECT_EQ(wire::decode_data(pdu.payload)->type, TraceType::Counter);
    EXPECT_EQ(wire::decode_data(pdu.payload)->value, 6);
  }
}

TEST_F(LegacySessionTest, PutsBackIncrementsOfWhichOnlyTheSumHasArrived) {
  record("added", 100, RecordKind::Add);
  record("waiting", 1, RecordKind::Add);
  flush();
  const std::size_t sent = heard.take().size();
  sender.on_disconnected(kNow);
  for (const Delta& expected :
       {Delta{.count = 1, .sum = 2, .last = 2}, Delta{.count = 100 - sent, .last = 200}}) {
    EXPECT_TRUE(pending.front().is_added());
    EXPECT_EQ(pending.front().delta, expected);
    pending.pop();
  }
}

TEST_F(LegacySessionTest, PutsBackValuesThatAreNotFiniteAndNoAborts) {
  record("not finite", 100, RecordKind::Observe, HUGE_VAL);
  flush();
  sender.on_disconnected(kNow);
  EXPECT_GT(pending.front().delta.count, 0u);
  EXPECT_EQ(pending.front().delta.nonfinite, pending.front().delta.count);
  pending.pop();

  sender.on_connected(heard.out);
  record("both", 2, RecordKind::Abort);
  record("both", 100, RecordKind::Transact);
  flush();
  sender.on_disconnected(kNow);
  EXPECT_GT(pending.front().delta.count, 0u);
  EXPECT_FALSE(pending.front().is_of_failures());
}

TEST_F(LegacySessionTest, HangsUpOnAnAnswerToNothing) {
  EXPECT_FALSE(acknowledge(0));
  record("answered", 1);
  flush();
  EXPECT_FALSE(acknowledge(-1));
}

TEST_F(LegacySessionTest, CountsWhatAStockAgentCannotTake) {
  record(std::string(125, 'x'), 3);
  record("aborted", 2, RecordKind::Abort);
  record("taken", 1);
  record(std::string(124, 'x'), 1);
  flush();
  EXPECT_EQ(heard.take().size(), 2u);
  EXPECT_EQ(counters.undeliverable, 3u);
  EXPECT_EQ(counters.aborted, 2u);
  EXPECT_EQ(counters.acknowledged, 2u);  // aborts: PCP's agent does not count them
}

TEST_F(LegacySessionTest, SendsATagWithTooManyLabelsUnderItsBareName) {
  const std::string value(120, 'v');
  record("bare{k=" + value.substr(0, 124 - 8) + "}", 1);
  record("bare{k=" + value + "}", 2);
  record(std::string(125, 'x') + "{k=1}", 3);
  flush();
  std::vector<std::string> tags;
  for (const KeptPdu& pdu : heard.take()) tags.emplace_back(wire::decode_data(pdu.payload)->tag);
  EXPECT_EQ(tags, (std::vector<std::string>{"bare{k=" + value.substr(4) + "}", "bare", "bare"}));
  EXPECT_TRUE(acknowledge(0));
  EXPECT_EQ(counters.acknowledged, 3u);
  EXPECT_EQ(counters.undeliverable, 3u);
}

}  // namespace
}  // namespace pcp::trace::client
