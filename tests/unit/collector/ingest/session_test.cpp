// SPDX-License-Identifier: LGPL-2.1-or-later
// Clients of version 2: sessions, tags and batches.
#include <limits>

#include "collector/ingest/peer.hpp"
#include "unit/collector/ingest/agent_side.hpp"
#include "unit/collector/ingest/collector_fixture.hpp"

namespace pcp::trace::agent {
namespace {

using SessionOf = AgentSide;
using SessionOfCollector = CollectorFixture;
using enum TraceType;
using wire::ByeReason;
using wire::PduType;

// An entry for tag 1 with this number of calls, which need not be honest.
std::string calls(std::uint64_t count) {
  Delta delta;
  delta.add(-1);
  delta.count = count;
  std::string body;
  wire::append_delta(body, 1, Point, delta, {});
  return body;
}

TEST_F(SessionOf, AHelloIsAnsweredWithTheLimits) {
  start_with([](auto& options) {
    options.max_pdu_bytes = 100'000;
    options.max_tags_per_session = 77;
  });
  PduStream& peer = unix_socket();
  const auto welcome = peer.hello(1);
  ASSERT_TRUE(welcome);
  EXPECT_FALSE(welcome->session_known);
  EXPECT_EQ(welcome->last_sequence, 0u);
  EXPECT_EQ(welcome->max_pdu_bytes, 100'000u);
  EXPECT_EQ(welcome->max_tags, 77u);
  EXPECT_NE(welcome->agent_instance, 0u);
  EXPECT_TRUE(welcome->features.test(number_of(wire::Feature::InFlight)));
  EXPECT_TRUE(welcome->features.test(number_of(wire::Feature::Events)));
}

TEST_F(SessionOfCollector, EveryCollectorIsAnotherAgentInstance) {
  start();
  const auto first = unix_socket().hello(1);
  start();
  const auto second = unix_socket().hello(1);
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->agent_instance, second->agent_instance);
  EXPECT_FALSE(second->session_known);
}

TEST_F(SessionOf, ABatchIsAppliedAndAcknowledged) {
  PduStream& peer = client();
  ASSERT_TRUE(peer.deliver(
      3, entry(7, Observe, {1, 2, 6}) + entry(9, Point, {-1, -1}) + entry(7, Transact, {0.25}),
      tags_pdu({{7, "seven"}, {9, "nine"}})));
  const auto observed = values(Observe, "seven");
  ASSERT_TRUE(observed);
  EXPECT_EQ(observed->total.count, 3u);
  EXPECT_EQ(observed->total.sum, 9.0);
  EXPECT_EQ(observed->total.min, 1.0);
  EXPECT_EQ(observed->total.max, 6.0);
  EXPECT_EQ(observed->total.last, 6.0);
  EXPECT_EQ(count_of(Point, "nine"), 2u);
  EXPECT_EQ(count_of(Transact, "seven"), 1u);
  EXPECT_EQ(counters().records, 6u);
  EXPECT_EQ(counters().batches, 1u);
}

TEST_F(SessionOf, ADuplicateIsAcknowledgedButNotApplied) {
  PduStream& peer = client();
  const std::string batch = batch_pdu(5, entry(1, Point, {-1}));
  ASSERT_TRUE(peer.send(tags_pdu({{1, "tag"}}) + batch + batch +
                        batch_pdu(4, entry(1, Point, {-1})) + batch_pdu(9, entry(1, Point, {-1}))));
  for (const std::uint64_t sequence : {5u, 5u, 4u, 9u}) EXPECT_EQ(peer.next_batch_ack(), sequence);
  EXPECT_EQ(count_of(Point, "tag"), 2u);
  EXPECT_EQ(counters().duplicates, 2u);
}

TEST_F(SessionOf, AReconnectedClientIsKnownAndItsResentBatchIsADuplicate) {
  PduStream& first = unix_socket();
  const auto before = first.hello(1);
  ASSERT_TRUE(first.deliver(1, entry(1, Point, {-1}), tags_pdu({{1, "tag"}})));
  first.close();

  PduStream& second = unix_socket();
  const auto after = second.hello(1);
  ASSERT_TRUE(before && after);
  EXPECT_TRUE(after->session_known);
  EXPECT_EQ(after->last_sequence, 1u);
  EXPECT_EQ(after->agent_instance, before->agent_instance);
  ASSERT_TRUE(second.deliver(1, entry(1, Point, {-1}), tags_pdu({{1, "tag"}})));
  ASSERT_TRUE(second.deliver(2, entry(1, Point, {-1, -1})));
  EXPECT_EQ(count_of(Point, "tag"), 3u);
  EXPECT_EQ(counters().duplicates, 1u);
}

TEST_F(SessionOf, AnotherUserDoesNotGetAtASession) {
  PduStream& owner = client();
  ASSERT_TRUE(owner.deliver(8, entry(1, Point, {-1}), tags_pdu({{1, "tag"}})));

  // Over TCP the agent does not know the user.
  PduStream& stranger = tcp();
  const auto welcome = stranger.hello(1);
  ASSERT_TRUE(welcome);
  EXPECT_FALSE(welcome->session_known);
  EXPECT_EQ(welcome->last_sequence, 0u);
  ASSERT_TRUE(owner.deliver(9, entry(1, Point, {-1})));
  EXPECT_EQ(counters().sessions, 2u);
}

TEST_F(SessionOfCollector, ANewConnectionTakesTheSessionOver) {
  TestPeer old = client();
  ASSERT_TRUE(old.deliver(4, entry(1, Point, {-1}), tags_pdu({{1, "tag"}})));

  TestPeer young = unix_socket();
  const auto welcome = young.hello(1);
  ASSERT_TRUE(welcome);
  EXPECT_TRUE(welcome->session_known);
  EXPECT_EQ(welcome->last_sequence, 4u);
  EXPECT_TRUE(old.at_end());
  ASSERT_TRUE(young.deliver(5, entry(1, Point, {-1})));  // its tags are still defined
  EXPECT_EQ(count_of(Point, "tag"), 2u);
  EXPECT_EQ(clients().size(), 1u);
  EXPECT_EQ(counters().sessions, 1u);
  EXPECT_EQ(counters().connections, 1u);
}

TEST_F(SessionOf, AByeForgetsTheSessionUnlessItComplains) {
  PduStream& peer = client();
  EXPECT_EQ(counters().sessions, 1u);
  ASSERT_TRUE(peer.deliver(1, entry(1, Point, {-1}), tags_pdu({{1, "tag"}})));
  EXPECT_TRUE(peer.leave());
  EXPECT_EQ(counters().sessions, 0u);
  const auto welcome = unix_socket().hello(1);
  ASSERT_TRUE(welcome);
  EXPECT_FALSE(welcome->session_known);
  EXPECT_TRUE(log().empty());
  PduStream& complains = client(2);
  ASSERT_TRUE(complains.send(bye_pdu(ByeReason::Malformed)));
  EXPECT_TRUE(complains.at_end());
  EXPECT_TRUE(unix_socket().hello(2)->session_known);
}

TEST_F(SessionOf, ASessionWithoutAByeIsForgottenAfterAWhile) {
  PduStream& peer = client();
  EXPECT_EQ(counters().sessions, 1u);
  peer.close();
  pass(std::chrono::minutes(59));
  EXPECT_EQ(counters().sessions, 1u);
  pass(std::chrono::minutes(1));
  EXPECT_EQ(counters().sessions, 0u);
}

TEST_F(SessionOf, AUserHasSoManyConnectedSessions) {
  start_with([](auto& options) { options.max_sessions_per_user = 2; });
  client(1);
  client(2);
  PduStream& third = unix_socket();
  EXPECT_FALSE(third.hello(3));
  EXPECT_TRUE(third.at_end());
  EXPECT_NE(log_line_with("2 sessions"), "");
  EXPECT_TRUE(tcp().hello(3)) << "another user";
}

TEST_F(SessionOf, TheOldestRememberedSessionMakesRoomForANewOne) {
  start_with([](auto& options) { options.max_sessions_per_user = 2; });
  for (std::uint8_t session = 1; session <= 2; ++session) client(session).close();
  client(3);
  EXPECT_EQ(counters().sessions, 2u);
  const auto second = unix_socket().hello(2);
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->session_known);
  EXPECT_EQ(counters().refused_quota, 0u);
}

TEST_F(SessionOf, TheUserWithMostRememberedSessionsMakesRoomForAllUsers) {
  start_with([](auto& options) { options.max_remembered_sessions = 2; });
  const auto come_and_go = [](std::uint8_t session, PduStream& peer) {
    EXPECT_TRUE(peer.hello(session));
    peer.close();
  };
  come_and_go(1, tcp());
  come_and_go(2, unix_socket());
  come_and_go(3, unix_socket());
  EXPECT_EQ(counters().sessions, 2u);
  EXPECT_TRUE(tcp().hello(1)->session_known);
  EXPECT_TRUE(unix_socket().hello(3)->session_known);
  EXPECT_FALSE(unix_socket().hello(2)->session_known);
}

TEST(Peer, OfAnIpv6NetworkIsOneUser) {
  const auto user = [](const char* address) {
    Peer peer;
    peer.address = address;
    return peer.owner();
  };
  EXPECT_EQ(user("2001:db8:1:2::3"), user("2001:db8:1:2:ff::4"));
  EXPECT_NE(user("2001:db8:1:2::3"), user("2001:db8:1:3::3"));
  EXPECT_EQ(user("192.0.2.1"), "192.0.2.1");
}

TEST_F(SessionOf, TagsAreItsOwnAfterResetsAndOthersInTheirRoom) {
  start_with([](auto&) {}, {.max_tags = 2});
  PduStream& peer = client();
  ASSERT_TRUE(peer.deliver(1, entry(1, Point, {-1}), tags_pdu({{1, "tag"}})));
  PduStream& other = client(2);
  ASSERT_TRUE(other.send(tags_pdu({{1, "a"}, {2, "b"}, {3, "c"}, {4, "d"}})));
  std::uint64_t sent = 0;
  for (const std::uint32_t id : {1u, 2u, 3u, 4u, 4u}) {
    reset();
    EXPECT_FALSE(values(Point, "tag"));
    ASSERT_TRUE(other.deliver(++sent, entry(id, Point, {-1})));
  }
  ASSERT_TRUE(peer.deliver(2, entry(1, Point, {-1, -1})));
  EXPECT_EQ(count_of(Point, "d"), 1u);
  EXPECT_EQ(count_of(Point, "tag"), 2u);
}

TEST_F(SessionOf, TheOriginOfItsTagsIsNoted) {
  wire::Hello hello = hello_of(1);
  hello.service = "shop";
  hello.labels = {{"zone", "north"}};
  ASSERT_TRUE(client(hello).deliver(1, entry(1, Point, {-1}), tags_pdu({{1, "tag"}})));
  const auto name = instance(Point, "tag");
  ASSERT_TRUE(name && name->origin);
  EXPECT_EQ(name->origin->labels.members(), R"("service":"shop","zone":"north")");
  EXPECT_EQ(name->origin->owner, "uid " + std::to_string(::getuid()));
}

TEST_F(SessionOf, AConnectedClientIsShownWithItsCounters) {
  PduStream& peer = client();
  ASSERT_EQ(clients().size(), 1u);
  EXPECT_EQ(clients()[0].process, "program");
  EXPECT_EQ(clients()[0].pid, static_cast<std::uint32_t>(::getpid()));  // by the kernel
  EXPECT_EQ(clients()[0].uid, ::getuid());
  EXPECT_EQ(clients()[0].gid, ::getgid());
  EXPECT_EQ(clients()[0].origin->labels.members(), R"("service":"service")");
  ASSERT_TRUE(peer.deliver(6, entry(1, Point, {-1}), tags_pdu({{1, "tag"}})));
  EXPECT_EQ(clients()[0].counters.recorded, 1006u);
  peer.close();
  EXPECT_TRUE(clients().empty());
}

// Each batch alone may be honest; all together cannot be.
TEST_F(SessionOf, CountsOfManyBatchesNeverWrap) {
  PduStream& peer = client();
  ASSERT_TRUE(peer.send(tags_pdu({{1, "tag"}})));
  for (std::uint64_t sequence = 1; sequence <= 20; ++sequence)
    ASSERT_TRUE(peer.deliver(sequence, calls(std::uint64_t{1} << 60)));
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(counters().records, kMost);
  EXPECT_EQ(count_of(Point, "tag"), kMost);
}

TEST_F(SessionOf, AFaultCostsThatConnectionAlone) {
  const struct {
    const char* what;
    std::string bytes;
    const char* says;
  } faults[] = {
      {"an undefined tag", batch_pdu(1, entry(1, Point, {-1}) + entry(2, Point, {-1})),
       "a BATCH with tag id 2, which no TAGS has defined"},
      {"a second name", tags_pdu({{1, "other"}}), "give id 1 a second name"},
      {"a malformed batch", frame(PduType::Batch, "\xff\xff\xff"), "a malformed BATCH"},
      {"an absurd count", batch_pdu(1, calls(~std::uint64_t{0})), "a malformed BATCH"},
      {"malformed tags", frame(PduType::Tags, "\xff\xff\xff"), "a malformed TAGS"},
      {"a malformed bye", frame(PduType::Bye, "\xff\xff\xff"), "a malformed BYE"},
      {"data", data_pdu(Point, "tag", -1), "DATA where TAGS, BATCH, EVENTS or BYE is expected"},
      {"a second hello", wire::pdu_of(wire::append_hello, hello_of(1)),
       "HELLO where TAGS, BATCH, EVENTS or BYE is expected"},
      {"malformed events", frame(PduType::Events, ""), "malformed EVENTS"},
      {"an unknown type", frame(PduType{0x1234}, ""), "unknown type 4660 where"},
  };
  PduStream& good = client(2);
  std::uint64_t sequence = 0;
  for (const auto& [what, bytes, says] : faults) {
    SCOPED_TRACE(what);
    PduStream& bad = client(1);
    ASSERT_TRUE(bad.send(tags_pdu({{1, "tag"}}) + bytes));
    EXPECT_EQ(bad.next_bye(), ByeReason::Malformed);
    EXPECT_TRUE(bad.at_end());
    EXPECT_NE(log().back().find(says), std::string::npos) << log().back();
    ASSERT_TRUE(good.deliver(++sequence, entry(1, Point, {-1}), tags_pdu({{1, "tag"}})));
    EXPECT_EQ(log().size(), sequence);
    EXPECT_EQ(count_of(Point, "tag"), sequence);
    EXPECT_EQ(clients().size(), 1u);
  }
}

}  // namespace
}  // namespace pcp::trace::agent
