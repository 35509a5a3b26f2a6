// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/instances.hpp"
#include "unit/metrics/metrics_fixture.hpp"

namespace pcp::trace::agent {
namespace {

using std::chrono::seconds;

class ClientInstancesTest : public MetricsFixture {
 protected:
  void connect(std::uint64_t connection, std::uint32_t pid, const std::string& process) {
    ClientView view;
    view.pid = pid;
    view.process = process;
    view.connected_at = now_;
    view.counters.recorded = 10 * connection;
    shared_.clients[connection] = view;
  }

  std::map<int, std::string> names() {
    clients_.refresh(reader_, now_);
    std::map<int, std::string> names;
    for (const ClientInstance& client : clients_.all()) names[client.number] = client.name;
    return names;
  }

  using Names = std::map<int, std::string>;
  ClientInstances clients_;
};

TEST_F(ClientInstancesTest, ShowsAProcessOnceItHasStayedForMoreThanFiveSeconds) {
  connect(1, 77, "server");
  now_ += seconds(5);
  EXPECT_EQ(names(), Names{});
  now_ += Duration(1);
  EXPECT_EQ(names(), (Names{{77, "77 server"}}));
  EXPECT_EQ(fetch("trace.client.recorded"), (std::map<int, double>{{77, 10}}));
  shared_.clients.clear();
  EXPECT_EQ(names(), Names{});
}

TEST_F(ClientInstancesTest, TellsProcessesOfTheSamePidApartAsLongAsTheyStay) {
  connect(1, 77, "one");
  connect(2, 77, "two");
  connect(3, 77, "three");
  now_ += seconds(6);
  EXPECT_EQ(names(), (Names{{77, "77 one"}, {1 << 22, "77#2 two"}, {(1 << 22) + 1, "77#3 three"}}));
  // Each keeps its number as long as it stays.
  shared_.clients.erase(1);
  shared_.clients.erase(3);
  EXPECT_EQ(names(), (Names{{1 << 22, "77#2 two"}}));
  connect(4, 77, "four");
  now_ += seconds(6);
  EXPECT_EQ(names(), (Names{{77, "77 four"}, {1 << 22, "77#2 two"}}));
}

TEST_F(ClientInstancesTest, TakesAnyPidThatAPeerClaims) {
  connect(1, 0xffffffff, "odd");
  now_ += seconds(6);
  ASSERT_EQ(names().size(), 1);
  EXPECT_GE(names().begin()->first, 0);
  EXPECT_EQ(names().begin()->second, "4294967295 odd");
}

TEST_F(ClientInstancesTest, ShowsNoControlBytesAndCutsALongName) {
  connect(1, 77, "a\nb\xff");
  connect(2, 78, std::string(255, '\x01'));
  now_ += seconds(6);
  EXPECT_EQ(names()[77], "77 a\\x0ab\\xff");
  EXPECT_EQ(names()[78].size(), 3 + 62 * 4 + 3u);
  EXPECT_TRUE(names()[78].ends_with("\\x01..."));
}

TEST_F(ClientInstancesTest, SeesAllHoweverManyThereAre) {
  for (std::uint64_t i = 1; i <= 1000; ++i) connect(i, static_cast<std::uint32_t>(i), "p");
  now_ += seconds(6);
  EXPECT_EQ(names().size(), 1000);
}

}  // namespace
}  // namespace pcp::trace::agent
