// SPDX-License-Identifier: LGPL-2.1-or-later
#include <thread>

#include <gtest/gtest.h>

#include "agent/disk_thread.hpp"

namespace pcp::trace::agent {
namespace {

constexpr Instant kNow{};
constexpr Instant kNever = Instant::max();

TEST(LogQueue, GivesAllTextInItsOrder) {
  LogQueue queue;
  queue.push("a\n");
  queue.push("b");
  queue.push("\n");
  const auto taken = queue.pop(kNever);
  EXPECT_EQ(taken.text, "a\nb\n");
  EXPECT_EQ(taken.lost_lines, 0u);
  EXPECT_EQ(queue.pop(kNow).text, "");
}

TEST(LogQueue, CountsTheLinesForWhichThereIsNoRoom) {
  LogQueue queue;
  const std::string great(LogQueue::kMostBytes - 1, '-');
  queue.push(great);
  queue.push("a\nb\n");
  queue.push("\n");  // there is room for it, but it comes after a lost line
  const auto taken = queue.pop(kNever);
  EXPECT_EQ(taken.text, great);
  EXPECT_EQ(taken.lost_lines, 3u);
  queue.push("c\n");
  EXPECT_EQ(queue.pop(kNever).text, "c\n");
}

TEST(LogQueue, TellsOfALostPieceOfALine) {
  LogQueue queue;
  const std::string great(LogQueue::kMostBytes, '-');
  queue.push(great);
  queue.push("a");
  queue.push("b\n");  // without its beginning it would look like the end of the text before
  const auto taken = queue.pop(kNever);
  EXPECT_EQ(taken.text, great);
  EXPECT_EQ(taken.lost_lines, 2u);
}

TEST(LogQueue, EndsItsWaitWhenItIsWoken) {
  LogQueue queue;
  queue.wake();
  EXPECT_EQ(queue.pop(kNever).text, "");
  std::thread other([&] { queue.wake(); });
  EXPECT_EQ(queue.pop(kNever).text, "");
  other.join();
}

}  // namespace
}  // namespace pcp::trace::agent
