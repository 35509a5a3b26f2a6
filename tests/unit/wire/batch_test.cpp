// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wire/batch.hpp"

#include <functional>
#include <limits>
#include <optional>

#include <gtest/gtest.h>
#include <protozero/pbf_writer.hpp>

#include "unit/wire/samples.hpp"

namespace pcp::trace::wire {
namespace {

TEST(Hello, NeedsNothingButASessionOf16Bytes) {
  EXPECT_FALSE(decode_hello(""));
  for (const std::size_t length : {0u, 15u, 16u, 17u}) {
    std::string payload;
    protozero::pbf_writer(payload).add_bytes(1, std::string(length, 's'));
    EXPECT_EQ(decode_hello(payload).has_value(), length == 16) << length;
  }
  Hello hello = sample_hello();
  hello.labels = {{"", "the agent leaves out a label without a name"}};
  EXPECT_EQ(decode_hello(payload_of(pdu_of(append_hello, hello))).value().labels, hello.labels);
}

std::optional<Welcome> welcome_with(const std::function<void(protozero::pbf_writer&)>& write) {
  std::string payload;
  protozero::pbf_writer writer(payload);
  writer.add_fixed64(1, 5);
  write(writer);
  return decode_welcome(payload);
}

TEST(Welcome, OfAnOlderAgentMeansNoFeatureTheLeastPduAndAnyNumberOfTags) {
  const auto welcome = welcome_with([](protozero::pbf_writer&) {});
  ASSERT_TRUE(welcome);
  EXPECT_TRUE(welcome->features.none());
  EXPECT_EQ(welcome->max_pdu_bytes, kLeastMaxPduBytes);
  EXPECT_EQ(welcome->max_tags, std::numeric_limits<std::uint32_t>::max());
  EXPECT_EQ(welcome->last_events, 0u);
  EXPECT_FALSE(welcome->control);
}

TEST(Welcome, MayListFeaturesOneByOneAndOnesFromATimeToCome) {
  const auto welcome = welcome_with([](protozero::pbf_writer& writer) {
    for (const std::uint64_t number : {2ull, 64ull, (1ull << 32) + 3}) writer.add_uint64(6, number);
    const std::vector<std::uint64_t> packed = {63, 65, (1ull << 32) + 4};
    writer.add_packed_uint64(6, packed.begin(), packed.end());
  });
  ASSERT_TRUE(welcome);
  EXPECT_EQ(welcome->features, FeatureSet().set(2).set(63));
}

TEST(Welcome, IsRefusedWithoutAnInstanceOrWithALimitBelowTheLeast) {
  EXPECT_FALSE(decode_welcome(""));
  Welcome welcome = sample_welcome();
  welcome.max_pdu_bytes = kLeastMaxPduBytes - 1;
  const std::string pdu = pdu_of(append_welcome, welcome);
  EXPECT_FALSE(decode_welcome(payload_of(pdu)));
}

TEST(Tags, AreRefusedIfOneIsNotATag) {
  std::vector<TagDefinition> decoded;
  for (const std::string& name :
       {std::string(), std::string(255, 'x'), std::string("a\0b", 3), std::string(1, '\0')}) {
    const std::string pdu = pdu_of(append_tags, {{1, "good"}, {2, name}});
    EXPECT_FALSE(decode_tags(payload_of(pdu), decoded)) << name;
  }
  const std::string pdu = pdu_of(append_tags, {{1, std::string(254, '\xff')}});
  EXPECT_TRUE(decode_tags(payload_of(pdu), decoded));
}

TEST(Batch, LeavesNothingOfTheOneBefore) {
  Batch batch;
  for (const std::string& pdu : {batch_pdu(), in_flight_pdu(), pdu_of(append_batch, 10, {}, {})}) {
    ASSERT_TRUE(decode_batch(payload_of(pdu), batch));
    EXPECT_EQ(pdu_of(batch), pdu);
  }
}

TEST(Batch, AddsNoMoreToItsBodyThanPromised) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  std::string pdu = bye_pdu();
  const BatchHead head{
      {kMost, kMost}, {kMost, kMost, kMost, kMost, kMost, kMost}, {}, /*in_flight_anew=*/true};
  append_batch(pdu, kPid, kMost, head, {});
  EXPECT_EQ(pdu, bye_pdu() + pdu_of(append_batch, kMost, head, {}));
  EXPECT_LE(pdu.size(), bye_pdu().size() + kBatchOverheadBytes);
}

// A body may be sent again, but always with the transactions that are in flight at that time.
TEST(Batch, HasWhatIsInFlightOutsideOfItsBody) {
  std::string in_flight;
  const OpenCount none;  // zeros are usually left out
  for (const OpenCount& count : {sample_open_counts()[0], none})
    append_open_count(in_flight, count);
  const std::string pdu = pdu_of(append_batch, 8, {{}, {}, in_flight, false}, sample_body());
  EXPECT_TRUE(pdu.ends_with(sample_body()));
  EXPECT_EQ(written_again(PduType::Batch, payload_of(pdu)), pdu);
}

TEST(Batch, IsRefusedIfMoreIsInFlightOrForLongerThanCanBe) {
  const auto is_taken = [](const OpenCount& count) {
    std::string in_flight;
    append_open_count(in_flight, count);
    const std::string pdu = pdu_of(append_batch, 1, {{}, {}, in_flight, false}, {});
    Batch batch;
    return decode_batch(payload_of(pdu), batch);
  };
  constexpr std::uint32_t kAnyTid = ~std::uint32_t{0};
  EXPECT_TRUE(is_taken({1, kMaxOpen, kMaxOpenAgeNs, kAnyTid}));
  EXPECT_FALSE(is_taken({1, kMaxOpen + 1, 0, 0}));
  EXPECT_FALSE(is_taken({1, 1, kMaxOpenAgeNs + 1, 0}));
}

TEST(Batch, IsRefusedWithoutASequenceOrIfItsLastRecordIsOlderThanItsFirst) {
  Batch batch;
  EXPECT_TRUE(decode_batch(payload_of(pdu_of(append_batch, 1, {{6, 6}, {}}, {})), batch));
  EXPECT_FALSE(decode_batch(payload_of(pdu_of(append_batch, 0, {{6, 6}, {}}, {})), batch));
  EXPECT_FALSE(decode_batch(payload_of(pdu_of(append_batch, 1, {{5, 6}, {}}, {})), batch));
  EXPECT_FALSE(decode_batch_ack(""));
  EXPECT_FALSE(decode_events_ack(""));
}

TEST(Messages, OfANewerPeerAreUnderstood) {
  std::string unknown;
  {
    protozero::pbf_writer writer(unknown);
    writer.add_string(1000, "new");
    writer.add_uint64(1001, 1);
    writer.add_fixed32(1002, 1);
    writer.add_fixed64(1003, 1);
  }
  for (const std::string& pdu : all_pdus()) {
    const PduType type = type_of(pdu);
    if (type == PduType::Data || type == PduType::Ack) continue;  // have no fields
    EXPECT_EQ(written_again(type, unknown + std::string(payload_of(pdu)) + unknown), pdu);
  }
}

TEST(Messages, MayHaveATruthValueOfAnyLength) {
  Batch batch;
  ASSERT_TRUE(decode_batch({"\x08\x01\x38\x80\x00", 5}, batch));
  EXPECT_FALSE(batch.in_flight_anew);
  ASSERT_TRUE(decode_batch({"\x08\x01\x2a\x08\x10\x04\x18\x01\x58\x80\x80\x00", 12}, batch));
  EXPECT_FALSE(batch.entries.at(0).is_added);
  Events events;
  ASSERT_TRUE(decode_events({"\x08\x01\x10\x01\x1a\x07\x10\x03\x58\x01\x60\x80\x00", 13}, events));
  EXPECT_FALSE(events.spans.at(0).aborted);
}

// Work and memory grow no faster than the size of a PDU.
TEST(Batch, TakesTheLargestPduOfTinyPartsAtOnce) {
  std::string body;
  Delta once;
  once.count = 1;
  while (body.size() < (1 << 20)) append_delta(body, 0, TraceType::Point, once, {});
  const std::string pdu = pdu_of(append_batch, 1, {}, body);
  Batch batch;
  EXPECT_TRUE(decode_batch(payload_of(pdu), batch));
  EXPECT_LT(batch.entries.capacity() * sizeof(DeltaEntry), 64 * pdu.size());
}

}  // namespace
}  // namespace pcp::trace::wire
