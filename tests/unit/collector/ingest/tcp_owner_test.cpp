// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/tcp_owner.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "base/descriptor.hpp"
#include "collector/ingest/listener.hpp"
#include "unit/collector/ingest/test_peer.hpp"

namespace pcp::trace::agent {
namespace {

constexpr std::uint32_t kNobody = 65534;

// One end of a TCP connection within this machine; the other end belongs to another process.
class TcpOwner : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    Result<TcpListeners> listeners = listen_tcp(Tcp::Loopback, 0);
    ASSERT_TRUE(listeners);
    port_ = listeners->port;
    for (Descriptor& each : listeners->sockets) {
      sockaddr_storage address{};
      socklen_t length = sizeof address;
      ::getsockname(each.get(), reinterpret_cast<sockaddr*>(&address), &length);
      if (address.ss_family == GetParam()) listening_ = std::move(each);
    }
    if (!listening_) GTEST_SKIP() << "this machine has no such addresses";
  }
  void TearDown() override { end_peer(); }

  // Makes a process of this user connect.
  void connect_as(std::uint32_t user) {
    peer_ = ::fork();
    if (peer_ == 0) {
      if (::geteuid() != user && ::setuid(user) != 0) ::_exit(1);
      const TestPeer peer = TestPeer::tcp(port_, GetParam() == AF_INET ? "127.0.0.1" : "::1");
      if (peer.descriptor() < 0) ::_exit(1);
      ::pause();
    }
    pollfd waiting{listening_.get(), POLLIN, 0};
    while (!accepted_) {
      ::poll(&waiting, 1, 10);
      ASSERT_EQ(::waitpid(peer_, nullptr, WNOHANG), 0) << "it could not connect";
      accepted_.reset(::accept(listening_.get(), nullptr, nullptr));
    }
  }

  void end_peer() {
    if (peer_ <= 0) return;
    ::kill(peer_, SIGKILL);
    ::waitpid(peer_, nullptr, 0);
    peer_ = -1;
  }

  void expect_both(std::optional<std::uint32_t> owner) const {
    EXPECT_EQ(tcp_owner(accepted_.get()), owner);
    EXPECT_EQ(listed_tcp_owner(accepted_.get()), owner);
  }

  std::uint16_t port_ = 0;
  Descriptor listening_;
  Descriptor accepted_;
  pid_t peer_ = -1;
};

INSTANTIATE_TEST_SUITE_P(Families, TcpOwner, testing::Values(AF_INET, AF_INET6),
                         [](const auto& family) {
                           return family.param == AF_INET ? "Four" : "Six";
                         });

TEST_P(TcpOwner, IsAnotherUserHoweverTheKernelIsAsked) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  connect_as(kNobody);
  expect_both(kNobody);
}

TEST_P(TcpOwner, IsTheSameHoweverTheKernelIsAskedAndNobodyOnceItHasGone) {
  connect_as(::geteuid());
  expect_both(::geteuid());
  end_peer();
  expect_both(std::nullopt);
}

}  // namespace
}  // namespace pcp::trace::agent
