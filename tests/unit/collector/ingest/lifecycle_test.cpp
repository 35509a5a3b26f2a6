// SPDX-License-Identifier: LGPL-2.1-or-later
// Start and end of the agent: ports, the Unix socket, stop.
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "pcp/trace.h"
#include "support/error_of.hpp"
#include "unit/collector/ingest/collector_fixture.hpp"

namespace pcp::trace::agent {
namespace {

using Lifecycle = CollectorFixture;
using enum TraceType;
using wire::PduType;

// A Unix socket bound to this path, which stays in the file system after the descriptor is closed.
Descriptor bind_unix(const std::string& path) {
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return socket;
}

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  return status;
}

// Why an agent with these options cannot listen.
std::string trouble_of(IngestOptions options) {
  Collector collector(
      {.ingest = std::move(options)}, [](const std::string&) {}, steady_now());
  return error_of(collector.listen());
}

TEST_F(Lifecycle, ABusyPortIsOneLine) {
  IngestOptions same = options();
  same.port = collector().port();
  same.socket_path.clear();
  EXPECT_EQ(trouble_of(same), "bind(" + std::to_string(same.port) + "): Address already in use");
}

TEST_F(Lifecycle, APortThatIsBusyForIPv6IsBusy) {
  if (!has_ipv6()) GTEST_SKIP() << "this machine has no IPv6";
  const Descriptor taken(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  socklen_t length = sizeof address;
  const int on = 1;
  ASSERT_EQ(::setsockopt(taken.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on), 0);
  ASSERT_EQ(::bind(taken.get(), reinterpret_cast<const sockaddr*>(&address), length), 0);
  ASSERT_EQ(::listen(taken.get(), 1), 0);
  ::getsockname(taken.get(), reinterpret_cast<sockaddr*>(&address), &length);
  IngestOptions same = options();
  same.port = ntohs(address.sin6_port);
  EXPECT_EQ(trouble_of(same), "bind(" + std::to_string(same.port) + "): Address already in use");
  EXPECT_FALSE(status_of(socket_path()));
}

TEST_F(Lifecycle, ARestartedAgentGetsItsPortAtOnce) {
  start();
  const std::uint16_t port = collector_->port();
  TestPeer peer = greeted(tcp());
  collector_.reset();  // the agent closes first, so the old connection lingers on its side
  start_with([&](auto& options) { options.port = port; });
  EXPECT_EQ(collector_->port(), port);
  EXPECT_EQ(tcp().next_ack(), 2);
}

TEST_F(Lifecycle, AStaleUnixSocketIsReplacedByOneToWhichEverybodyMayConnect) {
  bind_unix(socket_path()).reset();
  ASSERT_TRUE(status_of(socket_path()));
  start();
  ASSERT_TRUE(log().empty());
  EXPECT_EQ(unix_socket().next_ack(), 2);
  const auto status = status_of(socket_path());
  ASSERT_TRUE(status);
  EXPECT_TRUE(S_ISSOCK(status->st_mode));
  EXPECT_EQ(status->st_mode & 0777, 0666u);
  EXPECT_EQ(status->st_uid, ::geteuid());
}

TEST_F(Lifecycle, ALiveUnixSocketIsLeftAlone) {
  const Descriptor live = bind_unix(socket_path());
  ASSERT_EQ(::listen(live.get(), 5), 0);
  const auto before = status_of(socket_path());
  start();
  EXPECT_EQ(log().size(), 1u);
  EXPECT_NE(log_line_with(socket_path() + ": another process is listening"), "");
  EXPECT_EQ(tcp().next_ack(), 2);
  collector_.reset();
  ASSERT_TRUE(status_of(socket_path()));
  EXPECT_EQ(status_of(socket_path())->st_ino, before->st_ino);
}

enum class NameServer { Fails, Hangs, Answers };
std::atomic<NameServer> name_server;
std::atomic<bool> is_hanging;

Result<HostPatterns> look_up(const std::string&) {
  is_hanging = name_server == NameServer::Hangs;
  if (is_hanging) name_server.wait(NameServer::Hangs);
  if (name_server == NameServer::Answers) return parse_host_spec("127.0.0.1")->patterns;
  return Error{"no name server"};
}

class UnknownHosts : public CollectorFixture {
 protected:
  // Starts while the name server fails.
  void start_with_rules(std::initializer_list<const char*> rules) {
    name_server = NameServer::Fails;
    start_with([&](IngestOptions& options) {
      options.access = AccessList(look_up);
      options.look_up_pause = std::chrono::milliseconds(1);
      for (const char* rule : rules) EXPECT_EQ(error_of(options.access.add(rule)), "");
    });
  }
};

TEST_F(UnknownHosts, AreLookedUpAgain) {
  start_with_rules({"disallow:localhost", "allow:late"});
  EXPECT_NE(log_line_with("\"late\": no name server; will be tried again"), "");
  EXPECT_EQ(tcp().next_ack(), PMTRACE_ERR_PERMISSION);
  name_server = NameServer::Answers;
  ASSERT_TRUE(eventually([] { return !log_line_with("\"late\" has been found").empty(); }));
  EXPECT_EQ(tcp().next_ack(), 2);
}

TEST_F(UnknownHosts, KeepNobodyWaitingIfTheNameServerHangs) {
  start_with_rules({"disallow:late"});
  name_server = NameServer::Hangs;
  ASSERT_TRUE(eventually([] { return is_hanging.load(); }));
  EXPECT_EQ(tcp().next_ack(), 2);
  collector_.reset();
  name_server = NameServer::Fails;
  name_server.notify_all();
}

TEST_F(Lifecycle, AUnixSocketThatCannotBeMadeIsOneWarning) {
  const std::string file = directory_ + "/file";
  std::ofstream(file) << "precious";
  for (const std::string& path :
       {file, directory_ + "/missing/trace.socket", std::string(200, 'x')}) {
    start_with([&](auto& options) { options.socket_path = path; });
    EXPECT_EQ(tcp().next_ack(), 2);
    EXPECT_NE(log_line_with(path), "");
    collector_.reset();
  }
  EXPECT_EQ(log().size(), 3u);
  EXPECT_NE(log_line_with("not a socket"), "");
  EXPECT_TRUE(S_ISREG(status_of(file)->st_mode));
}

TEST_F(Lifecycle, StopLeavesAnothersUnixSocketAlone) {
  start();
  ASSERT_EQ(::unlink(socket_path().c_str()), 0);
  const Descriptor other = bind_unix(socket_path());
  collector_->stop();
  EXPECT_TRUE(status_of(socket_path()));
}

TEST_F(Lifecycle, StopSaysByeToItsClients) {
  TestPeer ours = client();
  TestPeer stock = greeted(tcp());
  ASSERT_TRUE(ours.deliver(1, entry(1, Point, {-1}), tags_pdu({{1, "tag"}})));
  collector_->stop();
  EXPECT_EQ(ours.next_bye(), wire::ByeReason::Done);
  EXPECT_TRUE(ours.at_end());
  EXPECT_TRUE(stock.at_end());
  EXPECT_TRUE(clients().empty());
  EXPECT_EQ(counters().connections, 0u);
}

TEST_F(Lifecycle, StopDoesNotWaitForAClientThatDoesNotListen) {
  TestPeer deaf = client();
  std::string stream = tags_pdu({{1, "tag"}});
  for (std::uint64_t i = 1; i < 50'000; ++i) stream += batch_pdu(i, entry(1, Point, {-1}));
  deaf.send_until_full(stream);
  collector_->stop();  // if it waited, the test would time out
}

TEST_F(Lifecycle, StopUnlinksTheUnixSocketAndMayBeCalledTwiceOrWithoutStart) {
  start();
  EXPECT_TRUE(status_of(socket_path()));
  collector_->stop();
  collector_->stop();
  EXPECT_FALSE(status_of(socket_path()));
  EXPECT_EQ(trouble_of(options()), "");
  EXPECT_FALSE(status_of(socket_path()));
}

TEST_F(Lifecycle, ARequestListsTheClientsAndEchoesNothingThatTheySent) {
  start();
  wire::Hello hello = hello_of(1);
  hello.process = "evil\n\x1b[2Jprogram";
  TestPeer ours = unix_socket();
  ASSERT_TRUE(ours.hello(hello));
  TestPeer stock = greeted(tcp());
  ASSERT_TRUE(stock.send(data_pdu(Point, "tag", -1, true)));
  EXPECT_EQ(stock.next_ack(), ack_of(Point));
  collector_->request_client_log();
  ASSERT_TRUE(eventually([&] { return log().size() == 3; }));
  EXPECT_NE(log_line_with("clients connected: 2"), "");
  EXPECT_NE(log_line_with("version 2, \"evil\\x0a\\x1b[2Jprogram\""), "");
  EXPECT_NE(log_line_with("127.0.0.1 port"), "");
}

// The agent lists many in several steps.
TEST_F(Lifecycle, ARequestListsEachOfManyClientsOnce) {
  start();
  constexpr std::size_t kMany = 350;
  std::vector<TestPeer> clients;
  for (std::size_t i = 0; i < kMany; ++i) {
    clients.push_back(greeted(tcp()));
  }
  collector_->request_client_log();
  ASSERT_TRUE(eventually([&] { return log().size() >= kMany + 1; }));
  const std::vector<std::string> lines = log();
  EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()).size(), kMany + 1);
  EXPECT_EQ(lines.size(), kMany + 1);
}

TEST_F(Lifecycle, DescriptorsDoNotReachChildren) {
  TestPeer tcp_peer = greeted(tcp());
  TestPeer unix_peer = greeted(unix_socket());
  int sockets = 0;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(each, gone).string();
    if (target.rfind("socket:", 0) != 0) continue;
    std::ifstream info("/proc/self/fdinfo/" + each.path().filename().string());
    for (std::string line; std::getline(info, line);) {
      if (line.rfind("flags:", 0) != 0) continue;
      ++sockets;
      EXPECT_NE(std::stoul(line.substr(6), nullptr, 8) & O_CLOEXEC, 0u) << target;
    }
  }
  EXPECT_GE(sockets, 6);  // at least two listeners, and both ends of two connections
}

TEST_F(Lifecycle, SignalsAreNotTheIngestThreadsBusiness) {
  EXPECT_EQ(unix_socket().next_ack(), 2);
  std::string blocked;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (name != "ingest") continue;
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);)
      if (line.rfind("SigBlk:", 0) == 0) blocked = line.substr(8);
  }
  const auto mask = std::stoull(blocked, nullptr, 16);
  for (const int signal : {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGPIPE, SIGALRM, SIGCHLD})
    EXPECT_NE(mask >> (signal - 1) & 1, 0u) << signal;
}

// Nobody fetches here, so the ingest thread must have completed the intervals, and freed each tag's
// histograms that have left the window.
TEST_F(Lifecycle, TheEngineIsRotated) {
  start(options(), {.period = std::chrono::milliseconds(20), .buckets = 2});
  std::string stream;
  for (int i = 0; i < 2'000; ++i) stream += data_pdu(Observe, "tag" + std::to_string(i), i);
  TestPeer peer = tcp();
  ASSERT_TRUE(peer.send(stream));
  EXPECT_TRUE(eventually([&] {
    const EngineCounters counters = reader().engine_counters();
    return reader().instance_count(Observe) == 2'000 && counters.rotations > 5 &&
           counters.histogram_bytes == 0;
  }));
  EXPECT_TRUE(eventually([&] { return counters().busy_ns > 0; }));
}

// The address of each socket on which this process listens.
std::vector<std::string> listening_addresses() {
  std::vector<std::string> addresses;
  for (int descriptor = 0; descriptor < 1024; ++descriptor) {
    int listens = 0;
    socklen_t length = sizeof listens;
    if (::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) != 0 || listens == 0)
      continue;
    sockaddr_storage address{};
    length = sizeof address;
    ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length);
    char text[NI_MAXHOST] = "local:";
    if (address.ss_family != AF_UNIX)
      ::getnameinfo(reinterpret_cast<sockaddr*>(&address), length, text, sizeof text, nullptr, 0,
                    NI_NUMERICHOST);
    addresses.emplace_back(text);
  }
  return addresses;
}

TEST_F(Lifecycle, OnLoopbackNoOtherAddressIsListenedOn) {
  start_with([](auto& options) { options.tcp = Tcp::Loopback; });
  EXPECT_EQ(tcp().next_ack(), 2);
  EXPECT_EQ(unix_socket().next_ack(), 2);
  const std::vector<std::string> addresses = listening_addresses();
  EXPECT_GE(addresses.size(), 2u);
  for (const std::string& address : addresses)
    EXPECT_TRUE(address == "127.0.0.1" || address == "::1" || address == "local:") << address;
}

TEST_F(Lifecycle, WithoutTcpThereIsTheUnixSocket) {
  start_with([](auto& options) { options.tcp = Tcp::None; });
  EXPECT_EQ(collector_->port(), 0);
  EXPECT_EQ(unix_socket().next_ack(), 2);
  EXPECT_EQ(listening_addresses(), std::vector<std::string>{"local:"});
}

TEST_F(Lifecycle, WithoutTcpAUnixSocketThatCannotBeMadeIsAnError) {
  std::ofstream(socket_path()) << "precious";
  IngestOptions local = options();
  local.tcp = Tcp::None;
  EXPECT_EQ(trouble_of(local), "cannot listen on the Unix socket " + socket_path() +
                                   ": the file there is not a socket");
}

// Also for peers that had gone before the agent looked at them. Only the kernel knows one that has
// not been accepted yet.
TEST_F(Lifecycle, IsQuietWhenAllThatWasSentIsCounted) {
  start();
  EXPECT_TRUE(collector_->is_quiet());
  constexpr std::uint64_t kPeers = 300;
  for (std::uint64_t i = 1; i <= kPeers; ++i) {
    TestPeer peer = i % 2 == 0 ? tcp() : unix_socket();
    ASSERT_FALSE(collector_->is_quiet());
    ASSERT_TRUE(peer.next_ack());
    ASSERT_FALSE(collector_->is_quiet());
    ASSERT_TRUE(peer.send(data_pdu(Point, "tag", 1, false)));
    peer.close();
    ASSERT_TRUE(eventually([&] { return collector_->is_quiet(); }));
    ASSERT_EQ(count_of(Point, "tag"), i);
  }
}

TEST_F(Lifecycle, TakesProgramsOfOneUserIfItIsToldTo) {
  start_with([](auto& options) { options.only_user = ::geteuid(); });
  EXPECT_EQ(tcp().next_ack(), 2);
  EXPECT_EQ(unix_socket().next_ack(), 2);
  if (has_ipv6()) {
    EXPECT_EQ(tcp("::1").next_ack(), 2);
  }
}

// The user is not the one of `only_user`, and the program is an orphan whose parent has ended and
// that this process adopts.
TEST_F(Lifecycle, TakesProgramsThatItHasStartedWhoeverTheyAre) {
  start_with([](auto& options) { options.only_user = ::geteuid() + 1; });
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (::fork() == 0) {
    if (::fork() != 0) ::_exit(0);
    ::_exit(unix_socket().next_ack() == 2 ? 0 : 1);
  }
  for (int child = 0; child < 2; ++child) {
    int status = 0;
    ASSERT_GT(::wait(&status), 0);
    EXPECT_EQ(status, 0);
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_F(Lifecycle, RefusesProgramsOfOtherUsersIfItIsToldTo) {
  start_with([](auto& options) { options.only_user = ::geteuid() + 1; });
  EXPECT_EQ(tcp().next_ack(), PMTRACE_ERR_PERMISSION);
  TestPeer stranger = unix_socket();  // it remains, but is not waited for
  EXPECT_EQ(stranger.next_ack(), PMTRACE_ERR_PERMISSION);
  EXPECT_TRUE(stranger.at_end());
  EXPECT_TRUE(eventually([&] { return collector_->is_quiet(); }));
  if (has_ipv6()) {
    EXPECT_EQ(tcp("::1").next_ack(), PMTRACE_ERR_PERMISSION);
  }
  EXPECT_NE(log_line_with("not a process of this user"), "");
  // Over TCP it may be a program that has become another user.
  EXPECT_EQ(counters().refused_permission, has_ipv6() ? 2U : 1U);
}

}  // namespace
}  // namespace pcp::trace::agent
