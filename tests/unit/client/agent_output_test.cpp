// SPDX-License-Identifier: LGPL-2.1-or-later
// The times at which the output looks for an agent, by a clock that the test sets, and its messages
// to the agent, over an abstract Unix socket.
#include "process/agent_output.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "pcp/trace.h"
#include "support/add_records.hpp"
#include "support/encoded.hpp"
#include "support/pdus.hpp"

namespace pcp::trace::client {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kSecond = 1000 * kMs;

class Agent {
 public:
  ~Agent() {
    hang_up();
    go();
  }

  static std::string address() {
    return std::string(1, '\0') + "pcp-trace agent output " + std::to_string(::getpid());
  }

  void come() {
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    Agent::address().copy(address.sun_path, sizeof address.sun_path);
    ASSERT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(listener_, 1), 0);
  }
  void go() { close(listener_); }

  bool accept() {
    reader_ = wire::FrameReader(1 << 20);
    socket_ = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    return socket_ >= 0;
  }
  void hang_up() { close(socket_); }
  void greet(std::int32_t version) { say(wire::pdu_of(wire::append_ack, version)); }
  void welcome() {
    say(wire::pdu_of(wire::append_welcome,
                     {.agent_instance = 1, .max_pdu_bytes = 1 << 20, .features = {}}));
  }
  void acknowledge(std::uint64_t sequence) { say(wire::pdu_of(wire::append_batch_ack, sequence)); }

  std::vector<wire::PduType> hear() {
    char bytes[4096];
    const ssize_t got = ::recv(socket_, bytes, sizeof bytes, 0);
    std::vector<wire::PduType> types;
    if (got > 0)
      for (const KeptPdu& pdu : take_pdus(reader_, {bytes, static_cast<std::size_t>(got)}))
        types.push_back(pdu.type);
    return types;
  }

 private:
  void say(const std::string& bytes) {
    ASSERT_EQ(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  static void close(int& fd) {
    if (fd >= 0) ::close(std::exchange(fd, -1));
  }

  int listener_ = -1;
  int socket_ = -1;
  wire::FrameReader reader_{1 << 20};
};

struct AgentOutputTest : testing::Test {
  std::uint64_t now = 1000 * kSecond;
  ClientOptions options;
  OwnDescriptor socket;
  Doorbell doorbell;
  Recorders recorders{doorbell, 16};
  DeliveryCounters counters;
  Outbox outbox{recorders, {}, counters, [] { return wire::ClientCounters{}; }};
  Pending& pending = outbox.pending;
  Agent agent;
  AgentOutput output{socket, with_address(options), outbox, [this] { return now; }};
  std::vector<int> attempts;  // their results, as the news told them
  int put_back = 0;
  bool wants = true;  // there is something to deliver

  static const ClientOptions& with_address(ClientOptions& options) {
    options.socket_path = Agent::address();
    options.socket_only = true;
    options.reconnect_delays = {5s, 10s};
    return options;
  }

  // Does all that can be done now, as the flusher does.
  void work() {
    take_news();
    for (pollfd awaited = output.awaited(); ::poll(&awaited, 1, 0) > 0;
         awaited = output.awaited()) {
      output.on_ready();
      take_news();
    }
  }
  void connect() {
    output.connect();
    work();
  }
  // Gives the length of the pause.
  std::uint64_t pause() {
    const std::uint64_t began = now;
    now = output.next_call_ns();
    output.on_timer();
    work();
    return now - began;
  }
  void expect_pause(std::uint64_t least, std::uint64_t most) {
    const std::uint64_t took = pause();
    EXPECT_GE(took, least);
    EXPECT_LE(took, most);  // stepped: by pause()
  }
  void be_greeted(std::int32_t version) {
    ASSERT_TRUE(agent.accept());
    agent.greet(version);
    work();
  }
  void connect_to_agent() {
    connect();
    be_greeted(2);
    agent.welcome();
    work();
    ASSERT_EQ(attempts.back(), 0);
    ASSERT_EQ(agent.hear(), std::vector{wire::PduType::Hello});
  }
  void meet_agent() {
    agent.come();
    connect_to_agent();
  }
  void hang_up() {
    agent.hang_up();
    work();
  }
  void record() {
    add_records(pending, std::vector<Record>{{intern_tag("out"), 1, RecordKind::Point}}, now);
  }

 private:
  void take_news() {
    for (Output::News news = output.take_news(); news.has_any(); news = output.take_news()) {
      if (news.has_connected) attempts.push_back(0);
      if (news.failure) attempts.push_back(*news.failure);
      if (news.has_put_back) ++put_back;
      output.send_pending(pending.queued());
      if (wants) output.connect();
    }
  }
};

TEST_F(AgentOutputTest, LooksFourTimesASecondForASocketWhereNobodyIs) {
  connect();
  EXPECT_EQ(attempts, std::vector{-ECONNREFUSED});
  for (int attempt = 0; attempt < 10; ++attempt) expect_pause(200 * kMs, 300 * kMs);
  EXPECT_EQ(attempts.size(), 1u);  // nobody is told of these
}

TEST_F(AgentOutputTest, LooksByTheStepsOnlyForASocketWhoseDirectoryIsGone) {
  options.socket_path = "/nonexistent/socket";
  connect();
  EXPECT_EQ(attempts, std::vector{-ENOENT});
  EXPECT_GE(pause(), 4 * kSecond);
}

TEST_F(AgentOutputTest, TriesEverythingByTheStepsBesides) {
  connect();
  for (const auto& [least, most] : {std::pair{4000, 6300}, {8000, 12300}, {8000, 12300}}) {
    const std::uint64_t told_at = now;
    for (const std::size_t told = attempts.size(); attempts.size() == told;) pause();
    EXPECT_GE(now - told_at, static_cast<std::uint64_t>(least) * kMs);
    EXPECT_LE(now - told_at, static_cast<std::uint64_t>(most) * kMs);
  }
}

TEST_F(AgentOutputTest, PausesByTheStepsAfterARefusalAndNotAsLongAsAllOthers) {
  agent.come();
  connect();
  std::set<std::uint64_t> pauses;
  for (int refusals = 0; refusals < 50; ++refusals) {
    be_greeted(PMTRACE_ERR_PERMISSION);
    EXPECT_EQ(attempts.back(), PMTRACE_ERR_PERMISSION);
    agent.hang_up();
    const std::uint64_t took = pause();
    if (refusals > 0)
      pauses.insert(took);
    else
      EXPECT_TRUE(4 * kSecond <= took && took <= 6 * kSecond) << took;
  }
  EXPECT_GE(*pauses.begin(), 8 * kSecond);
  EXPECT_LT(*pauses.begin(), 9 * kSecond);
  EXPECT_GT(*pauses.rbegin(), 11 * kSecond);
  EXPECT_LE(*pauses.rbegin(), 12 * kSecond);
}

TEST_F(AgentOutputTest, ComesBackSoonToAnAgentThatWasThere) {
  meet_agent();
  for (int losses = 1; losses <= 3; ++losses) {
    hang_up();
    EXPECT_EQ(put_back, losses);
    EXPECT_LE(pause(), 500 * kMs);
    connect_to_agent();
    EXPECT_EQ(counters.reconnects, static_cast<std::uint64_t>(losses));
  }
}

TEST_F(AgentOutputTest, DoesNotComeBackSoonTwiceToAnAgentThatGreetsOnly) {
  meet_agent();
  hang_up();
  EXPECT_LE(pause(), 500 * kMs);
  be_greeted(2);
  hang_up();
  expect_pause(4 * kSecond, 6 * kSecond);
}

// Looking there costs more.
TEST_F(AgentOutputTest, LooksByTheStepsOnlyForAnAgentOfAnotherHost) {
  const int nobody = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  ASSERT_EQ(::bind(nobody, reinterpret_cast<const sockaddr*>(&address), length), 0);
  ASSERT_EQ(::getsockname(nobody, reinterpret_cast<sockaddr*>(&address), &length), 0);
  options.socket_only = false;
  options.tcp_only = true;
  options.host = "127.0.0.1";
  options.port = ntohs(address.sin_port);
  connect();
  EXPECT_EQ(attempts, std::vector{-ECONNREFUSED});
  EXPECT_GE(pause(), 4 * kSecond);
  ::close(nobody);
}

TEST_F(AgentOutputTest, DoesNothingBeforeItsTime) {
  connect();
  const std::uint64_t next = output.next_call_ns();
  output.on_timer();
  work();
  EXPECT_EQ(output.next_call_ns(), next);
}

TEST_F(AgentOutputTest, LeavesTheNetworkAloneIfThereIsNothingToDeliver) {
  connect();
  wants = false;
  pause();
  EXPECT_EQ(output.next_call_ns(), kNever);
  agent.come();
  connect();
  EXPECT_TRUE(agent.accept());
}

TEST_F(AgentOutputTest, HasOneAttemptWithoutAPauseForEachHurriedFlush) {
  connect();
  for (const std::uint64_t flush : {1UL, 2UL}) {
    const std::size_t before = attempts.size();
    EXPECT_TRUE(output.hurry(flush));
    connect();
    EXPECT_EQ(attempts.size(), before + 1);
    EXPECT_FALSE(output.hurry(flush));
    connect();
    EXPECT_EQ(attempts.size(), before + 1);
  }
}

TEST_F(AgentOutputTest, DeliversAndTakesItsLeave) {
  meet_agent();
  record();
  output.send_pending(pending.queued());
  work();
  EXPECT_EQ(agent.hear(), (std::vector{wire::PduType::Tags, wire::PduType::Batch}));
  EXPECT_FALSE(output.has_settled(1));
  agent.acknowledge(1);
  work();
  EXPECT_TRUE(output.has_settled(1));
  EXPECT_EQ(counters.acknowledged, 1u);
  output.say_goodbye();
  work();
  EXPECT_EQ(agent.hear(), std::vector{wire::PduType::Bye});
}

TEST_F(AgentOutputTest, NeedNotHurryWhereAnAgentIsAndGivesItAllTheTimeItTakes) {
  options.connect_timeout = 500ms;
  meet_agent();
  EXPECT_EQ(output.next_call_ns(), kNever);
  for (int times = 0; times < 2; ++times) EXPECT_TRUE(output.hurry(1));
  now += kSecond;
  output.on_timer();
  work();
  EXPECT_TRUE(counters.connected);
  EXPECT_EQ(put_back, 0);
}

TEST_F(AgentOutputTest, GivesASilentAgentUntilTheTimeout) {
  options.connect_timeout = 500ms;
  agent.come();
  connect();
  ASSERT_TRUE(agent.accept());
  EXPECT_EQ(pause(), 500 * kMs);
  EXPECT_EQ(attempts, std::vector{PMTRACE_ERR_TIMEOUT});
}

TEST_F(AgentOutputTest, SpeaksTheAgentsVersion) {
  agent.come();
  record();
  connect();
  be_greeted(1);
  EXPECT_EQ(agent.hear(), std::vector{wire::PduType::Data});
  EXPECT_EQ(counters.version.load(), 1u);
  EXPECT_TRUE(counters.connected);
  hang_up();
  EXPECT_FALSE(counters.connected);
  EXPECT_EQ(counters.uncertain, 1u);
}

TEST_F(AgentOutputTest, BeginsAnewWhereThereWasNoMemory) {
  meet_agent();
  output.recover();
  work();
  EXPECT_EQ(attempts.back(), kNoMemoryToConnect);
  EXPECT_EQ(put_back, 1);
  EXPECT_LE(pause(), 500 * kMs);
  connect_to_agent();
}

TEST_F(AgentOutputTest, TakesNoMemoryForNoFaultOfTheAgents) {
  agent.come();
  connect();
  for (int times = 0; times < 5; ++times) {
    ASSERT_TRUE(agent.accept());
    output.recover();
    agent.hang_up();
    EXPECT_LE(pause(), 500 * kMs);
  }
}

}  // namespace
}  // namespace pcp::trace::client
