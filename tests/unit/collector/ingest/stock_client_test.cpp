// SPDX-License-Identifier: LGPL-2.1-or-later
// Clients of version 1: the stock library and others with its protocol.
#include "unit/collector/ingest/agent_side.hpp"
#include "unit/collector/ingest/collector_fixture.hpp"

namespace pcp::trace::agent {
namespace {

using StockProgram = AgentSide;
using StockClient = CollectorFixture;
using enum TraceType;

// The stock library hangs up on any ACK but the type of tracing.
TEST_F(StockProgram, EveryTypeReachesTheEngineAndIsAcknowledgedWhereItWantsThat) {
  PduStream& peer = tcp();
  EXPECT_EQ(peer.next_ack(), 2);
  ASSERT_TRUE(peer.send(data_pdu(Transact, "tag", 0.5) + data_pdu(Transact, "tag", 1.5, true) +
                        data_pdu(Point, "tag", wire::kLegacyPointValue, true) +
                        data_pdu(Point, "tag", wire::kLegacyPointValue) +
                        data_pdu(Observe, "tag", 42, true) + data_pdu(Counter, "tag", 17, true)));
  for (const TraceType type : {Transact, Point, Observe, Counter})
    EXPECT_EQ(peer.next_ack(), ack_of(type));
  EXPECT_FALSE(peer.next());
  const auto transact = values(Transact, "tag");
  ASSERT_TRUE(transact);
  EXPECT_EQ(transact->total.count, 2u);
  EXPECT_EQ(transact->total.sum, 2.0);
  EXPECT_EQ(count_of(Point, "tag"), 2u);
  EXPECT_EQ(values(Observe, "tag")->total.last, 42.0);
  EXPECT_EQ(values(Counter, "tag")->total.last, 17.0);
  EXPECT_EQ(counters().records, 6u);
  EXPECT_EQ(counters().pdus, 6u);
}

TEST_F(StockClient, MaySplitTheStreamAnywhere) {
  start();
  const std::string stream =
      data_pdu(Observe, "first", 1) + data_pdu(Observe, "second tag", 2, true);
  for (std::size_t split = 1; split < stream.size(); ++split) {
    TestPeer peer = greeted(unix_socket());
    const auto read_before = counters().bytes.load();
    ASSERT_TRUE(peer.send(stream.substr(0, split)));
    // The agent must have seen the first part alone.
    ASSERT_TRUE(eventually([&] { return counters().bytes == read_before + split; }));
    ASSERT_TRUE(peer.send(stream.substr(split)));
    EXPECT_EQ(peer.next_ack(), ack_of(Observe));
    EXPECT_EQ(count_of(Observe, "first"), split);
    EXPECT_EQ(count_of(Observe, "second tag"), split);
  }
}

TEST_F(StockClient, ThatClosesItsHalfStillGetsItsAcks) {
  TestPeer peer = tcp();
  std::string stream;
  for (int i = 0; i < 5'000; ++i) stream += data_pdu(Point, "tag", -1, true);
  ASSERT_TRUE(peer.send(stream));
  peer.half_close();
  EXPECT_EQ(peer.next_ack(), 2);
  for (int i = 0; i < 5'000; ++i) ASSERT_EQ(peer.next_ack(), ack_of(Point));
  EXPECT_TRUE(peer.at_end());
}

TEST_F(StockClient, ThatVanishesInTheMiddleOfAPduIsForgotten) {
  TestPeer peer = greeted(tcp());
  ASSERT_TRUE(peer.send(data_pdu(Point, "whole", -1) + data_pdu(Point, "half", -1).substr(0, 20)));
  peer.close();
  EXPECT_TRUE(eventually([&] { return counters().connections == 0; }));
  EXPECT_EQ(count_of(Point, "whole"), 1u);
  EXPECT_EQ(count_of(Point, "half"), 0u);
}

// The agent does not read from a peer that does not read: no side's memory grows, no peer notices.
TEST_F(StockClient, ThatDoesNotReadItsAcksIsNotReadFrom) {
  TestPeer slow = greeted(unix_socket());
  TestPeer other = greeted(unix_socket());

  std::string stream;
  const std::size_t pdus = 60'000;
  for (std::size_t i = 0; i < pdus; ++i) stream += data_pdu(Point, "slow", -1, true);
  std::size_t sent = 0;
  std::uint64_t seen = 0;
  int standstills = 0;
  // The stream has stopped when the agent reads no more of it although there is more, and still
  // answers the other one.
  ASSERT_TRUE(eventually([&] {
    sent += slow.send_until_full(std::string_view(stream).substr(sent));
    EXPECT_TRUE(other.send(data_pdu(Point, "other", -1, true)));
    EXPECT_EQ(other.next_ack(), ack_of(Point));
    const std::uint64_t before = seen;
    seen = count_of(Point, "slow");
    standstills = seen == before ? standstills + 1 : 0;
    return seen > 0 && standstills == 10 && sent < stream.size();
  }));

  // When it reads, everything goes on and nothing is lost.
  std::size_t acks = 0;
  while (acks < pdus) {
    sent += slow.send_until_full(std::string_view(stream).substr(sent));
    ASSERT_EQ(slow.next_ack(), ack_of(Point));
    ++acks;
  }
  EXPECT_EQ(count_of(Point, "slow"), pdus);
}

}  // namespace
}  // namespace pcp::trace::agent
