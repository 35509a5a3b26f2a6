// SPDX-License-Identifier: LGPL-2.1-or-later
#include "link/connection.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include <gtest/gtest.h>

#include "support/scratch_directory.hpp"

namespace pcp::trace::client {
namespace {

// A connection to a socket of this test.
class ToAnAgent : public testing::Test {
 protected:
  ToAnAgent() {
    sockaddr_un address{AF_UNIX, {}};
    options_.socket_path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 3), 0);
    EXPECT_TRUE(connection_.open(find_endpoints(options_, Reach::Local).front()));
    agent_ = ::accept(listener_, nullptr, nullptr);
    EXPECT_TRUE(connection_.is_connecting());
    EXPECT_EQ(connection_.finish_connecting(), 0);
  }
  ~ToAnAgent() override {
    for (const int fd : {agent_, listener_}) ::close(fd);
  }

  const ScratchDirectory directory_;
  ClientOptions options_ = [this] {
    ClientOptions options;
    options.socket_path = directory_.path() / "agent";
    options.socket_only = true;
    return options;
  }();
  int listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  OwnDescriptor socket_;
  Connection connection_{socket_};
  int agent_ = -1;
};

TEST_F(ToAnAgent, SendsAtOnce) {
  connection_.send("goodbye");
  std::array<char, 16> got{};
  EXPECT_EQ(::recv(agent_, got.data(), got.size(), MSG_DONTWAIT), 7);
  EXPECT_EQ(connection_.events(), POLLIN);
}

TEST_F(ToAnAgent, SendsTheRestWhenThereIsRoom) {
  const std::string much(4 << 20, 'x');
  connection_.send(much);
  connection_.send("end");
  EXPECT_EQ(connection_.events(), POLLIN | POLLOUT);
  std::string all;
  std::array<char, 65536> got{};
  while (!all.ends_with("end")) {
    ASSERT_EQ(connection_.write(), 0);
    const ssize_t size = ::recv(agent_, got.data(), got.size(), MSG_DONTWAIT);
    all.append(got.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  }
  EXPECT_EQ(all, much + "end");
}

TEST_F(ToAnAgent, ReportsAFailureToSendLater) {
  ::shutdown(agent_, SHUT_RDWR);
  connection_.send("goodbye");
  EXPECT_EQ(connection_.write(), -EPIPE);
}

TEST_F(ToAnAgent, TakesOverTheSocketThatHasKnocked) {
  OwnDescriptor early;
  ASSERT_TRUE(connect_early(options_, early));
  const int number = early.number();
  Connection later(early);
  ASSERT_TRUE(later.open(find_endpoints(options_, Reach::Local).front()));
  EXPECT_EQ(later.descriptor(), number);
  ASSERT_TRUE(later.open(find_endpoints(options_, Reach::Local).front()));
  EXPECT_NE(later.descriptor(), number);
}

// Without poll() its owner only tries.
TEST(Connection, ToABusyAgentIsNoneYet) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {}};
  socklen_t length = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), length), 0);
  ASSERT_EQ(::listen(listener, 0), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length), 0);
  ClientOptions options;
  options.tcp_only = true;
  options.port = ntohs(address.sin_port);
  const Endpoint agent = find_endpoints(options, Reach::All).front();
  OwnDescriptor first_socket, socket;
  Connection first(first_socket), connection(socket);
  ASSERT_TRUE(first.open(agent));
  ASSERT_TRUE(connection.open(agent));
  EXPECT_EQ(first.finish_connecting(), 0);
  EXPECT_FALSE(first.is_connecting());
  EXPECT_EQ(connection.finish_connecting(), 0);
  EXPECT_TRUE(connection.is_connecting());
  ::close(listener);
}

}  // namespace
}  // namespace pcp::trace::client
