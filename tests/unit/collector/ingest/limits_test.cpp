// SPDX-License-Identifier: LGPL-2.1-or-later
// The agent refuses what is beyond its limits, and the reason arrives.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <new>
#include <optional>

#include "collector/ingest/acceptor.hpp"
#include "collector/ingest/listener.hpp"
#include "pcp/trace.h"
#include "support/error_of.hpp"
#include "support/scarce_memory.hpp"
#include "unit/collector/ingest/agent_side.hpp"
#include "unit/collector/ingest/collector_fixture.hpp"

namespace pcp::trace::agent {
namespace {

using Limits = CollectorFixture;
using enum TraceType;
using wire::ByeReason;
using wire::PduType;

const std::string kHello = wire::pdu_of(wire::append_hello, hello_of(1));

IngestOptions with_rules(IngestOptions options, std::initializer_list<const char*> rules) {
  for (const char* rule : rules) EXPECT_EQ(error_of(options.access.add(rule)), "");
  return options;
}

TEST_F(Limits, ARefusedPeerLearnsWhy) {
  start(with_rules(options(), {"disallow:127.0.0.1"}));
  TestPeer refused = tcp();
  EXPECT_EQ(refused.next_ack(), PMTRACE_ERR_PERMISSION);
  EXPECT_TRUE(refused.at_end());
  EXPECT_EQ(counters().refused_permission, 1u);
  EXPECT_EQ(counters().accepted, 0u);
  EXPECT_EQ(counters().connections, 0u);
  EXPECT_NE(log_line_with("127.0.0.1"), "");
  TestPeer admitted = greeted(unix_socket());
}

// A close of a socket with unread bytes sends a reset: the peer loses bytes that it has not read.
TEST_F(Limits, ARefusedPeerLearnsWhyEvenIfItHasSentALot) {
  start(with_rules(options(), {"disallow:*"}));
  std::string stream;
  for (int i = 0; i < 10'000; ++i) stream += data_pdu(Point, "tag", -1);
  for (int i = 0; i < 50; ++i) {
    TestPeer refused = tcp();
    ASSERT_TRUE(refused.send(stream));
    ASSERT_EQ(refused.next_ack(), PMTRACE_ERR_PERMISSION);
    ASSERT_TRUE(refused.send(stream));
    refused.half_close();
    ASSERT_TRUE(refused.at_end());
  }
  EXPECT_EQ(counters().refused_permission, 50u);
  EXPECT_EQ(counters().pdus, 0u);
}

TEST_F(Limits, ConnectionsBeyondTheMaximumOrThatOfARuleAreRefused) {
  IngestOptions two = options();
  two.max_connections = 2;
  for (const IngestOptions& each : {two, with_rules(options(), {"allow:local:*:2"})}) {
    start(each);
    TestPeer first = greeted(tcp());
    TestPeer second = greeted(unix_socket());
    for (const bool is_tcp : {true, false}) {
      TestPeer third = is_tcp ? tcp() : unix_socket();
      EXPECT_EQ(third.next_ack(), PMTRACE_ERR_CONNLIMIT);
      EXPECT_TRUE(third.at_end());
    }
    EXPECT_EQ(counters().refused_limit, 2u);
    first.close();
    ASSERT_TRUE(eventually([&] { return counters().connections == 1; }));
    greeted(tcp());
    collector_.reset();
  }
}

// A user who floods the agent leaves connections to others, by TCP and on the Unix socket.
TEST_F(Limits, AUserHasAThirdOfTheConnectionsAndAllAreServed) {
  start_with([](auto& options) { options.max_connections = 3 * 1002; });
  std::vector<TestPeer> flood;
  for (int i = 0; i < 1002; ++i) {
    flood.push_back(unix_socket());
    ASSERT_EQ(flood.back().next_ack(), 2) << i;
  }
  EXPECT_EQ(unix_socket().next_ack(), PMTRACE_ERR_CONNLIMIT);

  // Loopback addresses are one user.
  const char* other = has_ipv6() ? "::1" : "127.0.0.2";
  for (int i = 0; i < 1002; ++i) {
    flood.push_back(tcp(i % 2 == 0 ? "127.0.0.1" : other));
    ASSERT_EQ(flood.back().next_ack(), 2) << i;
  }
  EXPECT_EQ(tcp().next_ack(), PMTRACE_ERR_CONNLIMIT);
  EXPECT_EQ(tcp(other).next_ack(), PMTRACE_ERR_CONNLIMIT);
  EXPECT_EQ(counters().refused_limit, 3u);

  for (TestPeer& peer : flood) ASSERT_TRUE(peer.send(data_pdu(Point, "tag", -1, true)));
  for (TestPeer& peer : flood) ASSERT_EQ(peer.next_ack(), ack_of(Point));
  EXPECT_EQ(count_of(Point, "tag"), 2 * 1002u);
  EXPECT_EQ(counters().connections, 2 * 1002u);
  flood.clear();
  ASSERT_TRUE(eventually([&] { return counters().connections == 0; }));
  EXPECT_EQ(unix_socket().next_ack(), 2);
}

// A waiting peer must not wake the agent again and again while no descriptor is left.
TEST_F(Limits, WithoutDescriptorsTheAgentWaitsAndGoesOn) {
  ASSERT_EQ(unix_socket().next_ack(), 2);
  ASSERT_TRUE(eventually([&] { return counters().connections == 0; }));
  TestPeer connected = greeted(unix_socket());
  TestPeer waiting = TestPeer::unconnected();

  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 3;  // below all open ones: no new descriptor
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  EXPECT_TRUE(waiting.connect(socket_path()));
  EXPECT_TRUE(eventually([&] { return !log_line_with("cannot accept more connections").empty(); }));

  // Connected peers notice nothing.
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(connected.send(data_pdu(Point, "tag", -1, true)));
    EXPECT_EQ(connected.next_ack(), ack_of(Point));
  }
  EXPECT_EQ(log().size(), 1u);

  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(waiting.next_ack(), 2);
}

TEST(Acceptor, GoesOnThoughItCannotTellOfItsTrouble) {
  Result<TcpListeners> listeners = listen_tcp(Tcp::Loopback, 0);
  const auto out_of_memory = [](int) { throw std::bad_alloc(); };
  asio::io_context io;
  int taken = 0;
  Acceptor acceptor(
      io, std::move(listeners->sockets.front()),
      [&](Descriptor, const Peer&) {
        if (++taken == 1) out_of_memory(0);
      },
      out_of_memory);
  const TestPeer lost = TestPeer::tcp(listeners->port);
  const TestPeer next = TestPeer::tcp(listeners->port);
  EXPECT_THROW(acceptor.accept_waiting(), std::bad_alloc);
  while (taken < 2 && io.run_one() > 0) continue;
  EXPECT_EQ(taken, 2);
}

TEST_F(Limits, AnUnfinishedPduMayTakeSoLong) {
  start_with([](auto& options) { options.unfinished_pdu = std::chrono::milliseconds(20); });
  TestPeer idle = greeted(unix_socket());
  TestPeer stuck = client();
  ASSERT_TRUE(stuck.send(tags_pdu({{1, "tag"}}).substr(0, 15)));
  EXPECT_EQ(stuck.next_bye(), ByeReason::Timeout);
  EXPECT_TRUE(stuck.at_end());
  EXPECT_EQ(counters().dropped_timeout, 1u);
  ASSERT_TRUE(idle.send(data_pdu(Point, "tag", -1, true)));
  EXPECT_EQ(idle.next_ack(), ack_of(Point));
}

TEST_F(Limits, ASessionDefinesSoManyTags) {
  start_with([](auto& options) { options.max_tags_per_session = 2; });
  TestPeer peer = client();
  ASSERT_TRUE(peer.send(tags_pdu({{1, "one"}, {2, "two"}}) + tags_pdu({{1, "one"}}) +
                        tags_pdu({{3, "three"}})));
  EXPECT_EQ(peer.next_bye(), ByeReason::TooMuch);
  EXPECT_TRUE(peer.at_end());
  EXPECT_EQ(counters().dropped_limit, 1u);
  EXPECT_NE(log_line_with("too many tags"), "");
}

class SessionLimits : public AgentSide {
 protected:
  // Whether the program may define these tags, too.
  static bool defines(PduStream& peer, const std::vector<wire::TagDefinition>& tags) {
    EXPECT_TRUE(peer.send(tags_pdu(tags) + batch_pdu(1, {})));
    const auto answer = peer.next();
    EXPECT_TRUE(answer);
    if (answer && answer->type == PduType::BatchAck) return true;
    EXPECT_EQ(wire::decode_bye(answer.value().payload), ByeReason::TooMuch);
    return false;
  }
};

TEST_F(SessionLimits, AUserDefinesSoManyTagsUntilItsSessionsAreForgotten) {
  start_with([](auto& options) { options.max_tags_per_user = 2; });
  PduStream& first = client(1);
  EXPECT_TRUE(defines(first, {{1, "one"}, {2, "two"}}));
  EXPECT_FALSE(defines(client(2), {{1, "one"}}));
  EXPECT_TRUE(first.leave());
  EXPECT_TRUE(defines(client(3), {{1, "one"}, {2, "two"}}));
}

TEST_F(SessionLimits, AllUsersTogetherDefineSoManyTags) {
  start_with([](auto& options) { options.max_tags_in_sessions = 2; });
  EXPECT_TRUE(defines(client(1), {{1, "one"}, {2, "two"}}));
  PduStream& another_user = tcp();
  ASSERT_TRUE(another_user.hello(2));
  EXPECT_FALSE(defines(another_user, {{1, "three"}}));
}

// TAGS with `count` sets of labels of one name and ids that count up, and a BATCH of a point each.
std::string sets_of_labels(const std::string& name, std::uint32_t first_id, std::uint32_t count,
                           std::uint64_t sequence) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < count; ++i)
    names.push_back(name + "{i=" + std::to_string(first_id + i) + "}");
  std::vector<wire::TagDefinition> tags;
  std::string entries;
  for (std::uint32_t i = 0; i < count; ++i) {
    tags.push_back({first_id + i, names[i]});
    entries += entry(first_id + i, Point, {-1});
  }
  return tags_pdu(tags) + batch_pdu(sequence, entries);
}

TEST_F(SessionLimits, SetsOfLabelsBeyondThemCountForTheirName) {
  start_with([](auto& options) { options.max_tags_per_user = 200; });
  PduStream& happy = client(1);
  ASSERT_TRUE(happy.deliver_batch(1, sets_of_labels("a", 0, 210, 1)));
  EXPECT_EQ(count_of(Point, "a{i=199}"), 1u);
  EXPECT_EQ(count_of(Point, "a{i=200}"), 0u);
  EXPECT_EQ(count_of(Point, "a"), 10u);

  // Its ids keep their meaning, and a description of one is not one of the others.
  ASSERT_TRUE(
      happy.deliver(2, entry(205, Point, {-1, -1}), tags_pdu({{205, "a{i=205}", "s", ""}})));
  EXPECT_EQ(count_of(Point, "a"), 12u);
  EXPECT_EQ(instance(Point, "a")->description, nullptr);
  EXPECT_EQ(reader().engine_counters().folded, 12u);
  EXPECT_EQ(reader().engine_counters().overflowed, 0u);

  PduStream& plain = client(2);
  ASSERT_TRUE(plain.deliver(1, entry(1, Point, {-1}), tags_pdu({{1, "plain"}})));
  EXPECT_EQ(count_of(Point, "plain"), 1u);
  EXPECT_FALSE(defines(plain, {{2, "beyond 1%"}}));

  ASSERT_TRUE(happy.send(tags_pdu({{205, "b{i=205}"}})));
  EXPECT_EQ(happy.next_bye(), ByeReason::Malformed);
}

TEST_F(SessionLimits, ASessionDefinesFourTimesAsManyIds) {
  start_with([](auto& options) { options.max_tags_per_session = 100; });
  PduStream& peer = client();
  ASSERT_TRUE(peer.deliver_batch(1, sets_of_labels("a", 0, 400, 1)));
  EXPECT_EQ(count_of(Point, "a"), 300u);
  EXPECT_FALSE(defines(peer, {{400, "a{i=400}"}}));
}

TEST_F(SessionLimits, AForgottenSessionGivesItsIdsBack) {
  start_with([](auto& options) { options.max_tags_per_user = 100; });
  client(3);  // stays, else its user would be forgotten, too
  for (std::uint8_t session = 1; session <= 2; ++session) {
    PduStream& peer = client(session);
    EXPECT_TRUE(peer.deliver_batch(1, sets_of_labels("a", 0, 400, 1)));
    EXPECT_TRUE(peer.leave());
  }
}

TEST_F(SessionLimits, LabelsMayHaveSoManyBytes) {
  start_with([](auto& options) { options.max_label_bytes = 100; });
  PduStream& peer = unix_socket();
  wire::Hello hello = hello_of(1);
  const std::size_t names = hello.process.size() + hello.service.size();
  hello.labels = {{"zone", std::string(101 - names - 4, 'x')}};
  EXPECT_FALSE(peer.hello(hello));
  EXPECT_TRUE(peer.at_end());
  EXPECT_NE(log_line_with("names and labels of 101 bytes"), "");
  EXPECT_EQ(counters().sessions, 0u);
  EXPECT_TRUE(clients().empty());
  hello.labels[0].second.pop_back();
  client(hello);
}

// PCP would refuse the whole set for some of them; others would give a wrong host or agent.
TEST_F(SessionLimits, LabelsThatAreNotForAProcessToGiveAreLeftOutAndCounted) {
  wire::Hello hello = hello_of(1);
  hello.service.clear();
  for (const std::string& bad :
       {std::string(), std::string("k8s.pod"), std::string("9"), std::string(255, 'x'),
        std::string("hostname"), std::string("agent"), std::string("tag"), std::string("userid")})
    hello.labels.emplace_back(bad, "bad");
  hello.labels.emplace_back("zone", "eu");
  hello.labels.emplace_back("zone", "us");
  client(hello);
  ASSERT_EQ(clients().size(), 1u);
  EXPECT_EQ(clients()[0].origin->labels.members(), R"("zone":"eu")");
  EXPECT_EQ(counters().labels_refused, 9u);
}

// Tags keep labels after the process has gone.
TEST_F(SessionLimits, LabelsOfAUserMayTakeSoMuchMemory) {
  start_with([](auto& options) { options.max_kept_label_bytes = 3000; });
  const auto labels_kept = [this](PduStream& peer, std::uint8_t session) {
    wire::Hello hello = hello_of(session);
    hello.labels = {{"zone", std::string(1000, 'x')}};
    const std::uint64_t refused = counters().labels_refused;
    EXPECT_TRUE(peer.hello(hello));
    return counters().labels_refused == refused;
  };
  PduStream& kept_by_a_tag = unix_socket();
  EXPECT_TRUE(labels_kept(kept_by_a_tag, 1));
  ASSERT_TRUE(kept_by_a_tag.deliver(1, entry(1, Point, {-1}), tags_pdu({{1, "tag"}})));
  kept_by_a_tag.close();
  PduStream& second = unix_socket();
  EXPECT_TRUE(labels_kept(second, 2));
  EXPECT_FALSE(labels_kept(unix_socket(), 3));
  EXPECT_EQ(counters().labels_refused, 2u);
  EXPECT_EQ(clients().size(), 2u);
  EXPECT_TRUE(labels_kept(tcp(), 4)) << "another user";
  second.close();
  EXPECT_TRUE(labels_kept(unix_socket(), 5));
}

TEST_F(SessionLimits, OfALongProcessNameTheBeginningIsKept) {
  wire::Hello hello = hello_of(1);
  hello.process = std::string(16'000, '\x01');
  client(hello);
  EXPECT_EQ(clients()[0].process, std::string(255, '\x01'));
}

TEST_F(Limits, BeforeAWelcomeAPduIsSmall) {
  TestPeer peer = greeted(unix_socket());
  const std::string large = frame(PduType::Data, std::string(wire::kLeastMaxPduBytes, 'x'));
  ASSERT_TRUE(peer.send(large.substr(0, 100)));
  EXPECT_TRUE(peer.at_end());
  EXPECT_EQ(counters().dropped_malformed, 1u);
}

#ifdef TRACE_SCARCE_MEMORY
TEST(Acceptor, ClosesASocketThatCannotBeWaitedFor) {
  asio::io_context io;
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int number = socket.get();
  {
    const ScarceMemory scarce(1);
    EXPECT_THROW(Acceptor(io, std::move(socket), {}, {}), std::bad_alloc);
  }
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

TEST_F(Limits, APeerForWhichThereIsNoMemoryIsDroppedAndCounted) {
  constexpr std::size_t kBytes = 256 * 1024;
  start();
  TestPeer peer = client();
  std::string large = frame(PduType::Data, std::string(2 * kBytes, 'x'));
  large.pop_back();
  const ScarceMemory scarce(kBytes);
  peer.send(large);  // the agent may close meanwhile
  EXPECT_TRUE(peer.at_end());
  EXPECT_EQ(counters().dropped_limit, 1u);
  EXPECT_TRUE(eventually([] { return !log_line_with("dropped: std::bad_alloc").empty(); }));
}
#endif

TEST_F(Limits, UnfinishedPdusOfAllPeersTogetherMayWaitInSoManyBytes) {
  start_with([](auto& options) { options.max_unfinished_bytes = 20'000; });
  std::vector<TestPeer> peers;
  for (int i = 0; i < 20; ++i) {
    peers.push_back(unix_socket());
    ASSERT_TRUE(peers.back().send(data_pdu(Point, "tag", -1).substr(0, 20)));
  }
  EXPECT_TRUE(eventually([&] { return counters().dropped_limit > 0; }));
  TestPeer good = greeted(unix_socket());
  ASSERT_TRUE(good.send(data_pdu(Point, "tag", -1, true)));
  EXPECT_EQ(good.next_ack(), ack_of(Point));
}

using FirstWords = CollectorFixture;

TEST_F(FirstWords, ThatAreWrongCostThatConnectionAlone) {
  const struct {
    const char* what;
    std::string bytes;
    const char* says;
    std::optional<ByeReason> answer{};
  } cases[] = {
      {"HTTP", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "not between 12 and 65536"},
      {"zeros", std::string(64, '\0'), "not between 12 and 65536"},
      {"malformed DATA", frame(PduType::Data, "\x01\x04\x09\x80"), "a malformed DATA"},
      {"an empty HELLO", frame(PduType::Hello, "\xff"), "a malformed HELLO"},
      {"TAGS first", tags_pdu({{1, "tag"}}), "TAGS where DATA or HELLO"},
      {"BATCH first", batch_pdu(1, entry(1, Point, {-1})), "BATCH where DATA or HELLO"},
      {"a HELLO after DATA", data_pdu(Point, "before", -1) + kHello,
       "HELLO where DATA is expected"},
      {"a short length", kHello + std::string("\0\0\0\x0b\0\0\x70\x63\0\0\0\1", 12),
       "not between 12 and 1048576", ByeReason::Malformed},
      {"a long length", kHello + std::string("\x7f\xff\xff\xff\0\0\x70\x63\0\0\0\1", 12),
       "not between 12 and 1048576", ByeReason::Malformed},
  };
  start();
  TestPeer good = greeted(tcp());
  std::uint64_t dropped = 0;
  for (const auto& [what, bytes, says, answer] : cases) {
    SCOPED_TRACE(what);
    TestPeer bad = greeted(tcp());
    ASSERT_TRUE(bad.send(bytes));
    if (bytes.starts_with(kHello)) {
      EXPECT_TRUE(bad.next()) << "the WELCOME";
    }
    EXPECT_EQ(bad.next_bye(), answer);
    EXPECT_TRUE(bad.at_end());
    EXPECT_EQ(counters().dropped_malformed, ++dropped);
    EXPECT_NE(log().back().find(says), std::string::npos) << log().back();
    ASSERT_TRUE(good.send(data_pdu(Point, "tag", -1, true)));
    EXPECT_EQ(good.next_ack(), ack_of(Point));
    EXPECT_EQ(counters().connections, 1u);
  }
}

}  // namespace
}  // namespace pcp::trace::agent
