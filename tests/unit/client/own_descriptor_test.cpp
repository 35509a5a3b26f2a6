// SPDX-License-Identifier: LGPL-2.1-or-later
#include "platform/own_descriptor.hpp"

#include <fcntl.h>
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

class OurDescriptor : public testing::Test {
 protected:
  OurDescriptor() { EXPECT_TRUE(own_.take(ours_[0])); }
  ~OurDescriptor() override {
    for (const int fd : {ours_[1], theirs_[0], theirs_[1]}) ::close(fd);
  }

  std::array<int, 2> ours_ = make_pair();
  std::array<int, 2> theirs_ = make_pair();
  std::array<char, 8> bytes_{};
  OwnDescriptor own_;
};

TEST_F(OurDescriptor, IsOutOfTheProgramsWayAndCarriesBytes) {
  EXPECT_GE(own_.number(), 200);
  EXPECT_EQ(own_.send("a", 1), 1);
  EXPECT_EQ(::send(ours_[1], "bc", 2, 0), 2);
  EXPECT_EQ(own_.receive(bytes_.data(), bytes_.size()), 2);
  const int number = own_.number();
  own_.close();
  EXPECT_EQ(own_.number(), -1);
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
  EXPECT_FALSE(own_.is_ours());
  EXPECT_FALSE(own_.is_lost());
}

TEST_F(OurDescriptor, IsLeftAloneWhereTheProgramHasPutItsOwn) {
  const int number = own_.number();
  ASSERT_EQ(::dup2(theirs_[0], number), number);
  ASSERT_EQ(::send(theirs_[1], "word", 4, 0), 4);
  EXPECT_EQ(own_.send("a", 1), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(own_.receive(bytes_.data(), bytes_.size()), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_FALSE(own_.connect(sockaddr_storage{}, sizeof(sockaddr_storage)));
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(::recv(theirs_[1], bytes_.data(), bytes_.size(), MSG_DONTWAIT), -1);
  EXPECT_EQ(::recv(theirs_[0], bytes_.data(), bytes_.size(), MSG_DONTWAIT), 4);
  EXPECT_TRUE(own_.is_lost());
  own_.close();
  EXPECT_EQ(::close(number), 0);  // the program's
}

TEST_F(OurDescriptor, CountsAsLostIfTheProgramHasClosedItAlready) {
  const int closed = ::dup(ours_[1]);
  ::close(closed);
  EXPECT_FALSE(own_.take(closed));
  EXPECT_EQ(errno, EBADF);
  EXPECT_TRUE(own_.is_lost());
  EXPECT_FALSE(own_.take(-1));
  EXPECT_FALSE(own_.is_lost());
}

}  // namespace
}  // namespace pcp::trace::client
