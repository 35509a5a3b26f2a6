// SPDX-License-Identifier: LGPL-2.1-or-later
// The agent refuses what is beyond its limits, and the reason arrives.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <new>
#include <ostream>

#include "collector/ingest/acceptor.hpp"
#include "collector/ingest/listener.hpp"
#include "pcp/trace.h"
#include "support/error_of.hpp"
#include "support/scarce_memory.hpp"
#include "unit/collector/ingest/collector_fixture.hpp"

namespace pcp::trace::agent {
namespace {

using Limits = CollectorFixture;
using enum TraceType;
using wire::ByeReason;
using wire::PduType;

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

TEST_F(Limits, ARulesConnectionsAreCountedUntilTheyEnd) {
  start(with_rules(options(), {"allow:local:*:2"}));
  TestPeer first = greeted(tcp());
  TestPeer second = greeted(unix_socket());
  TestPeer third = tcp();
  EXPECT_EQ(third.next_ack(), PMTRACE_ERR_CONNLIMIT);
  EXPECT_EQ(counters().refused_limit, 1u);
  first.close();
  ASSERT_TRUE(eventually([&] { return counters().connections == 1; }));
  TestPeer fourth = greeted(tcp());
}

TEST_F(Limits, ConnectionsBeyondTheMaximumAreRefused) {
  start_with([](auto& options) { options.max_connections = 2; });
  TestPeer first = greeted(tcp());
  TestPeer second = greeted(unix_socket());
  TestPeer third = unix_socket();
  EXPECT_EQ(third.next_ack(), PMTRACE_ERR_CONNLIMIT);
  EXPECT_TRUE(third.at_end());
  second.close();
  ASSERT_TRUE(eventually([&] { return counters().connections == 1; }));
  EXPECT_EQ(unix_socket().next_ack(), 2);
}

TEST_F(Limits, ElevenHundredConnectionsAtOnceAreServed) {
  start();
  std::vector<TestPeer> peers;
  for (int i = 0; i < 1'100; ++i) {
    peers.push_back(i % 2 == 0 ? tcp() : unix_socket());
    ASSERT_GE(peers.back().descriptor(), 0) << i;
  }
  for (TestPeer& peer : peers) {
    ASSERT_EQ(peer.next_ack(), 2);
    ASSERT_TRUE(peer.send(data_pdu(Point, "tag", -1, true)));
  }
  for (TestPeer& peer : peers) ASSERT_EQ(peer.next_ack(), ack_of(Point));
  EXPECT_EQ(count_of(Point, "tag"), 1'100u);
  EXPECT_EQ(counters().connections, 1'100u);
  peers.clear();
  EXPECT_TRUE(eventually([&] { return counters().connections == 0; }));
}

// A user who floods the agent leaves connections to others, by TCP and on the Unix socket.
TEST_F(Limits, AUserHasAThirdOfTheConnections) {
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
    flood.push_back(TestPeer::tcp(collector_->port(), i % 2 == 0 ? "127.0.0.1" : other));
    ASSERT_EQ(flood.back().next_ack(), 2) << i;
  }
  EXPECT_EQ(tcp().next_ack(), PMTRACE_ERR_CONNLIMIT);
  EXPECT_EQ(TestPeer::tcp(collector_->port(), other).next_ack(), PMTRACE_ERR_CONNLIMIT);
  EXPECT_EQ(counters().refused_limit, 3u);

  flood.clear();
  ASSERT_TRUE(eventually([&] { return counters().connections == 0; }));
  EXPECT_EQ(unix_socket().next_ack(), 2);
}

// A waiting peer must not wake the agent again and again while no descriptor is left.
TEST_F(Limits, WithoutDescriptorsTheAgentWaitsAndGoesOn) {
  start();
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

TEST_F(Limits, AUserDefinesSoManyTagsUntilItsSessionsAreForgotten) {
  start_with([](auto& options) { options.max_tags_per_user = 2; });
  TestPeer first = client();
  ASSERT_TRUE(first.deliver(1, entry(1, Point, {-1}), tags_pdu({{1, "one"}, {2, "two"}})));

  TestPeer second = client(2);
  ASSERT_TRUE(second.send(tags_pdu({{1, "one"}})));
  EXPECT_EQ(second.next_bye(), ByeReason::TooMuch);

  ASSERT_TRUE(first.send(bye_pdu(ByeReason::Done)));
  EXPECT_TRUE(first.at_end());
  TestPeer third = client(3);
  ASSERT_TRUE(third.deliver(1, entry(1, Point, {-1}), tags_pdu({{1, "one"}, {2, "two"}})));
}

TEST_F(Limits, AllUsersTogetherDefineSoManyTags) {
  start_with([](auto& options) { options.max_tags_in_sessions = 2; });
  TestPeer first = client();
  ASSERT_TRUE(first.deliver(1, entry(1, Point, {-1}), tags_pdu({{1, "one"}, {2, "two"}})));
  TestPeer another_user = client(2, tcp());
  ASSERT_TRUE(another_user.send(tags_pdu({{1, "three"}})));
  EXPECT_EQ(another_user.next_bye(), ByeReason::TooMuch);
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

TEST_F(Limits, SetsOfLabelsBeyondThemCountForTheirName) {
  start_with([](auto& options) { options.max_tags_per_user = 200; });
  TestPeer happy = client();
  ASSERT_TRUE(happy.send(sets_of_labels("a", 0, 210, 1)));
  EXPECT_EQ(happy.next_batch_ack(), 1u);
  EXPECT_EQ(count_of(Point, "a{i=199}"), 1u);
  EXPECT_EQ(count_of(Point, "a{i=200}"), 0u);
  EXPECT_EQ(count_of(Point, "a"), 10u);

  // Its ids keep their meaning, and a description of one is not one of the others.
  ASSERT_TRUE(
      happy.deliver(2, entry(205, Point, {-1, -1}), tags_pdu({{205, "a{i=205}", "s", ""}})));
  EXPECT_EQ(count_of(Point, "a"), 12u);
  EXPECT_EQ(instance(Point, "a")->description, nullptr);
  EXPECT_EQ(collector_->reader().engine_counters().folded, 12u);
  EXPECT_EQ(collector_->reader().engine_counters().overflowed, 0u);

  TestPeer plain = client(2);
  ASSERT_TRUE(plain.deliver(1, entry(1, Point, {-1}), tags_pdu({{1, "plain"}})));
  EXPECT_EQ(count_of(Point, "plain"), 1u);
  ASSERT_TRUE(plain.send(tags_pdu({{2, "beyond 1%"}})));
  EXPECT_EQ(plain.next_bye(), ByeReason::TooMuch);

  ASSERT_TRUE(happy.send(tags_pdu({{205, "b{i=205}"}})));
  EXPECT_EQ(happy.next_bye(), ByeReason::Malformed);
}

TEST_F(Limits, ASessionDefinesFourTimesAsManyIds) {
  start_with([](auto& options) { options.max_tags_per_session = 100; });
  TestPeer peer = client();
  ASSERT_TRUE(peer.send(sets_of_labels("a", 0, 400, 1)));
  EXPECT_EQ(peer.next_batch_ack(), 1u);
  EXPECT_EQ(count_of(Point, "a"), 300u);
  ASSERT_TRUE(peer.send(tags_pdu({{400, "a{i=400}"}})));
  EXPECT_EQ(peer.next_bye(), ByeReason::TooMuch);
}

TEST_F(Limits, AForgottenSessionGivesItsIdsBack) {
  start_with([](auto& options) { options.max_tags_per_user = 100; });
  TestPeer stays = unix_socket();  // else its user would be forgotten, too
  ASSERT_TRUE(stays.hello(3));
  for (std::uint8_t session = 1; session <= 2; ++session) {
    TestPeer peer = client(session);
    ASSERT_TRUE(peer.send(sets_of_labels("a", 0, 400, 1) + bye_pdu(ByeReason::Done)));
    EXPECT_EQ(peer.next_batch_ack(), 1u);
    EXPECT_TRUE(peer.at_end());
  }
}

TEST_F(Limits, LabelsMayHaveSoManyBytes) {
  start_with([](auto& options) { options.max_label_bytes = 100; });
  TestPeer peer = unix_socket();
  wire::Hello hello = hello_of(1);
  const std::size_t names = hello.process.size() + hello.service.size();
  hello.labels = {{"zone", std::string(101 - names - 4, 'x')}};
  EXPECT_FALSE(peer.hello(hello));
  EXPECT_TRUE(peer.at_end());
  EXPECT_EQ(counters().dropped_limit, 1u);
  EXPECT_EQ(counters().sessions, 0u);
  EXPECT_TRUE(clients().empty());
  hello.labels[0].second.pop_back();
  EXPECT_TRUE(unix_socket().hello(hello));
}

// PCP would refuse the whole set for some of them; others would give a wrong host or agent.
TEST_F(Limits, LabelsThatAreNotForAProcessToGiveAreLeftOutAndCounted) {
  start();
  TestPeer peer = unix_socket();
  wire::Hello hello = hello_of(1);
  hello.service.clear();
  for (const std::string& bad :
       {std::string(), std::string("k8s.pod"), std::string("9"), std::string(255, 'x'),
        std::string("hostname"), std::string("agent"), std::string("tag"), std::string("userid")})
    hello.labels.emplace_back(bad, "bad");
  hello.labels.emplace_back("zone", "eu");
  hello.labels.emplace_back("zone", "us");
  ASSERT_TRUE(peer.hello(hello));
  ASSERT_EQ(clients().size(), 1u);
  EXPECT_EQ(clients()[0].origin->labels.members(), R"("zone":"eu")");
  EXPECT_EQ(counters().labels_refused, 9u);
}

TEST_F(Limits, AProcessHasSoManyLabels) {
  start();
  TestPeer peer = unix_socket();
  wire::Hello hello = hello_of(1);
  for (int i = 0; i < 300; ++i) hello.labels.emplace_back("l" + std::to_string(i), "x");
  ASSERT_TRUE(peer.hello(hello));
  EXPECT_EQ(clients()[0].origin->labels.labels().size(), LabelText::kMaxLabels);
  EXPECT_EQ(counters().labels_refused, 301 - LabelText::kMaxLabels);
}

// Tags keep labels after the process has gone.
TEST_F(Limits, LabelsOfAUserMayTakeSoMuchMemory) {
  start_with([](auto& options) { options.max_kept_label_bytes = 3000; });
  const auto labels_kept = [this](TestPeer& peer, std::uint8_t session) {
    wire::Hello hello = hello_of(session);
    hello.labels = {{"zone", std::string(1000, 'x')}};
    const std::uint64_t refused = counters().labels_refused;
    EXPECT_TRUE(peer.hello(hello));
    return counters().labels_refused == refused;
  };
  {
    TestPeer kept_by_a_tag = unix_socket();
    EXPECT_TRUE(labels_kept(kept_by_a_tag, 1));
    ASSERT_TRUE(kept_by_a_tag.deliver(1, entry(1, Point, {-1}), tags_pdu({{1, "tag"}})));
  }
  ASSERT_TRUE(eventually([this] { return clients().empty(); }));
  TestPeer second = unix_socket();
  EXPECT_TRUE(labels_kept(second, 2));
  TestPeer third = unix_socket();
  EXPECT_FALSE(labels_kept(third, 3));
  EXPECT_EQ(counters().labels_refused, 2u);
  EXPECT_EQ(clients().size(), 2u);
  TestPeer another_user = tcp();
  EXPECT_TRUE(labels_kept(another_user, 4));

  second.close();
  ASSERT_TRUE(eventually([this] { return clients().size() == 2; }));
  TestPeer fourth = unix_socket();
  EXPECT_TRUE(labels_kept(fourth, 5));
}

TEST_F(Limits, OfALongProcessNameTheBeginningIsKept) {
  start();
  TestPeer peer = unix_socket();
  wire::Hello hello = hello_of(1);
  hello.process = std::string(16'000, '\x01');
  ASSERT_TRUE(peer.hello(hello));
  EXPECT_EQ(clients()[0].process, std::string(255, '\x01'));
}

TEST_F(Limits, BeforeAWelcomeAPduIsSmall) {
  start();
  TestPeer peer = greeted(unix_socket());
  std::string large;
  wire::append_frame(large, PduType::Data, 1, std::string(wire::kLeastMaxPduBytes, 'x'));
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
  TestPeer peer = unix_socket();
  ASSERT_TRUE(peer.hello(hello_of(1)));
  std::string large;
  wire::append_frame(large, PduType::Data, 1, std::string(2 * kBytes, 'x'));
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

struct BadStart {
  const char* name;
  std::string bytes;
  const char* says;
};

void PrintTo(const BadStart& bad, std::ostream* out) { *out << bad.name; }

class FirstWords : public CollectorFixture, public testing::WithParamInterface<BadStart> {};

TEST_P(FirstWords, ThatAreWrongCostThatConnectionAlone) {
  start();
  TestPeer bad = greeted(tcp());
  TestPeer good = greeted(tcp());
  ASSERT_TRUE(bad.send(GetParam().bytes));
  EXPECT_FALSE(bad.next());
  EXPECT_TRUE(bad.at_end());
  EXPECT_NE(log_line_with(GetParam().says), "");
  EXPECT_EQ(counters().dropped_malformed, 1u);
  ASSERT_TRUE(good.send(data_pdu(Point, "tag", -1, true)));
  EXPECT_EQ(good.next_ack(), ack_of(Point));
  EXPECT_EQ(counters().connections, 1u);
}

INSTANTIATE_TEST_SUITE_P(
    Protocol, FirstWords,
    testing::Values(
        BadStart{"Http", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "length is not"},
        BadStart{"Zeros", std::string(64, '\0'), "length is not"},
        BadStart{"MalformedData", frame(PduType::Data, "\x01\x04\x09\x80"), "a malformed DATA"},
        BadStart{"EmptyHello", frame(PduType::Hello, "\xff"), "a malformed HELLO"},
        BadStart{"TagsFirst", tags_pdu({{1, "tag"}}), "TAGS where DATA or HELLO"},
        BadStart{"BatchFirst", batch_pdu(1, entry(1, Point, {-1})), "BATCH where DATA or HELLO"},
        BadStart{"HelloAfterData", data_pdu(Point, "before", -1) + hello_pdu(),
                 "HELLO where DATA is expected"}),
    [](const auto& each) { return each.param.name; });

TEST_F(Limits, ALogLineNeverEchoesWhatAPeerSent) {
  start();
  TestPeer peer = unix_socket();
  wire::Hello hello = hello_of(1);
  hello.process = "evil\n\x1b[2Jprogram";
  ASSERT_TRUE(peer.hello(hello));
  collector_->request_client_log();
  ASSERT_TRUE(eventually([&] { return !log_line_with("program").empty(); }));
  EXPECT_NE(log_line_with("evil\\x0a\\x1b[2Jprogram"), "");
}

TEST_F(Limits, ManyBadPeersDoNotFillTheLog) {
  start();
  for (int i = 0; i < 100; ++i) {
    TestPeer peer = unix_socket();
    ASSERT_TRUE(peer.send(std::string(12, '\0')));
    EXPECT_TRUE(peer.at_end());
  }
  EXPECT_EQ(counters().dropped_malformed, 100u);
  EXPECT_EQ(log().size(), LimitedLog::kMostLines);
}

}  // namespace
}  // namespace pcp::trace::agent
