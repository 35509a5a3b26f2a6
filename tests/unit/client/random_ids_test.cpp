// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/random_ids.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <set>

#include <gtest/gtest.h>

#include "platform/wiped_memory.hpp"

namespace pcp::trace::client {
namespace {

TEST(RandomIds, AreAllDifferent) {
  RandomIds one;
  RandomIds another;
  std::set<std::uint64_t> made;
  std::uint64_t bits_set = 0;
  std::uint64_t bits_clear = 0;
  for (int i = 0; i < 10'000; ++i) {
    for (RandomIds* ids : {&one, &another}) {
      const std::uint64_t id = ids->make();
      EXPECT_TRUE(made.insert(id).second);
      bits_set |= id;
      bits_clear |= ~id;
    }
  }
  EXPECT_EQ(bits_set & bits_clear, ~std::uint64_t{0});
  EXPECT_FALSE(made.contains(0));
}

TEST(RandomIds, AreOthersInAForkedChild) {
  RandomIds* const ids = new (allocate_wiped_memory(sizeof(RandomIds))) RandomIds;
  ids->make();
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::uint64_t made = ids->make();
    ::_exit(::write(pipe[1], &made, sizeof made) == sizeof made ? 0 : 1);
  }
  std::uint64_t of_child = 0;
  ASSERT_EQ(::read(pipe[0], &of_child, sizeof of_child), static_cast<ssize_t>(sizeof of_child));
  ::waitpid(child, nullptr, 0);
  EXPECT_NE(of_child, 0U);
  EXPECT_NE(of_child, ids->make());
  ::close(pipe[0]);
  ::close(pipe[1]);
}

}  // namespace
}  // namespace pcp::trace::client
