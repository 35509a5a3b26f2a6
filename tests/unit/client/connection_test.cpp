// SPDX-License-Identifier: LGPL-2.1-or-later
#include "link/connection.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "support/scratch_directory.hpp"
#include "wire/legacy.hpp"

namespace pcp::trace::client {
namespace {

// A connection to a socket of this test, which greets it.
class ToAnAgent : public testing::Test, protected Connection::Listener {
 protected:
  ToAnAgent() {
    sockaddr_un address{AF_UNIX, {}};
    options_.socket_path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    connection_.open(options_, Reach::Local);
    agent_ = ::accept(listener_, nullptr, nullptr);
    std::string greeting;
    wire::append_ack(greeting, 1, 2);
    EXPECT_EQ(::send(agent_, greeting.data(), greeting.size(), 0), ssize_t(greeting.size()));
    while (!is_greeted_ && !failure_) loop_.run_one();
  }
  ~ToAnAgent() override {
    for (const int fd : {agent_, listener_}) ::close(fd);
  }

  void on_greeting(std::uint32_t) override { is_greeted_ = true; }
  bool on_pdu(const wire::Frame&) override { return true; }
  void on_failure(int error) override { failure_ = error; }

  const ScratchDirectory directory_;
  ClientOptions options_ = [this] {
    ClientOptions options;
    options.socket_path = directory_.path() / "agent";
    options.socket_only = true;
    return options;
  }();
  int listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  asio::io_context loop_;
  Connection connection_{loop_, *this};
  int agent_ = -1;
  bool is_greeted_ = false;
  std::optional<int> failure_;
};

TEST_F(ToAnAgent, SendsAtOnce) {
  ASSERT_TRUE(is_greeted_);
  connection_.send("goodbye");
  std::array<char, 16> got{};
  EXPECT_EQ(::recv(agent_, got.data(), got.size(), MSG_DONTWAIT), 7);
}

TEST_F(ToAnAgent, SendsTheRestWhenThereIsRoom) {
  const std::string much(4 << 20, 'x');
  connection_.send(much);
  connection_.send("end");
  std::string all;
  std::array<char, 65536> got{};
  while (!all.ends_with("end") && !failure_) {
    loop_.poll();
    const ssize_t size = ::recv(agent_, got.data(), got.size(), MSG_DONTWAIT);
    all.append(got.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  }
  EXPECT_EQ(all, much + "end");
}

TEST_F(ToAnAgent, ReportsAFailureLater) {
  ::shutdown(agent_, SHUT_RDWR);
  connection_.send("goodbye");
  EXPECT_FALSE(failure_);
  while (!failure_) loop_.run_one();
  EXPECT_LT(*failure_, 0);
}

}  // namespace
}  // namespace pcp::trace::client
