// SPDX-License-Identifier: LGPL-2.1-or-later
#include "harmless/descriptors.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include <gtest/gtest.h>

namespace pcp::trace::client {
namespace {

std::array<int, 2> make_pair() {
  std::array<int, 2> ends{-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  return ends;
}

class KeptDescriptor : public testing::Test {
 protected:
  // Other tests have left theirs: only a library gets each close() told.
  KeptDescriptor() {
    for (int fd = 0; fd < 1000; ++fd) let_go_of_descriptor(fd);
    forget_lost_descriptors();
    ours_[0] = keep_descriptor(ours_[0]);
  }
  ~KeptDescriptor() override {
    for (const int fd : {ours_[0], ours_[1], theirs_[0], theirs_[1]}) ::close(fd);
  }

  std::array<int, 2> ours_ = make_pair();
  std::array<int, 2> theirs_ = make_pair();
  std::array<char, 8> bytes_{};
};

TEST_F(KeptDescriptor, IsOutOfTheProgramsWayAndCarriesBytes) {
  EXPECT_GE(ours_[0], 200);
  EXPECT_EQ(send_kept(ours_[0], "a", 1), 1);
  EXPECT_EQ(::send(ours_[1], "bc", 2, 0), 2);
  EXPECT_EQ(receive_kept(ours_[0], bytes_.data(), bytes_.size()), 2);
  EXPECT_TRUE(let_go_of_descriptor(ours_[0]));
}

// A forked child would add one that is apart to its parent's epoll, where the parent would find it.
TEST_F(KeptDescriptor, IsOnlyAskedOfAnEpollThatHasIt) {
  const int epoll = keep_epoll(::epoll_create1(0));
  const int apart = keep_apart(::dup(theirs_[0]));
  epoll_event event{};
  ASSERT_EQ(::epoll_ctl(epoll, EPOLL_CTL_ADD, apart, &event), 0);
  EXPECT_FALSE(may_use_descriptor(epoll));
  ASSERT_EQ(::epoll_ctl(epoll, EPOLL_CTL_ADD, ours_[0], &event), 0);
  EXPECT_TRUE(may_use_descriptor(epoll));
  EXPECT_TRUE(let_go_of_descriptor(epoll));
  EXPECT_TRUE(let_go_of_descriptor(apart));
  ::close(epoll);
  ::close(apart);
}

TEST_F(KeptDescriptor, IsLeftAloneWhereTheProgramHasPutItsOwn) {
  ASSERT_EQ(::dup2(theirs_[0], ours_[0]), ours_[0]);
  ASSERT_EQ(::send(theirs_[1], "word", 4, 0), 4);
  EXPECT_EQ(send_kept(ours_[0], "a", 1), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(receive_kept(ours_[0], bytes_.data(), bytes_.size()), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(connect_kept(ours_[0], sockaddr_storage{}, sizeof(sockaddr_storage)), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(::recv(theirs_[1], bytes_.data(), bytes_.size(), MSG_DONTWAIT), -1);
  EXPECT_EQ(::recv(theirs_[0], bytes_.data(), bytes_.size(), MSG_DONTWAIT), 4);
  EXPECT_FALSE(has_all_descriptors());
  EXPECT_FALSE(let_go_of_descriptor(ours_[0]));
  EXPECT_TRUE(has_all_descriptors());
}

}  // namespace
}  // namespace pcp::trace::client
