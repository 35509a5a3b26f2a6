// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record/doorbell.hpp"

#include <poll.h>

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace pcp::trace::client {
namespace {

bool is_rung(const Doorbell& bell, int timeout_ms = 0) {
  pollfd entry{bell.descriptor(), POLLIN, 0};
  return ::poll(&entry, 1, timeout_ms) == 1;
}

TEST(Doorbell, StaysSilentWhileTheFlusherIsAwake) {
  Doorbell bell;
  bell.ring_if_asleep();
  EXPECT_FALSE(is_rung(bell));
}

TEST(Doorbell, WakesASleeperOnce) {
  Doorbell bell;
  ASSERT_TRUE(bell.prepare_to_sleep());
  bell.ring_if_asleep();
  EXPECT_TRUE(is_rung(bell));
  EXPECT_FALSE(bell.silence());
  EXPECT_FALSE(is_rung(bell));
  bell.ring_if_asleep();
  EXPECT_FALSE(is_rung(bell));
}

TEST(Doorbell, SeesToItThatSomebodyHearsEachRing) {
  static int asked;
  static bool is_there;
  asked = 0;
  is_there = true;
  Doorbell bell([] {
    ++asked;
    return is_there;
  });
  bell.ring_if_asleep();
  EXPECT_EQ(asked, 0);
  bell.ring();
  EXPECT_EQ(asked, 1);
  is_there = false;
  bell.ring();
  bell.ring_if_asleep();  // nobody was there: each call asks again
  bell.ring_if_asleep();
  EXPECT_EQ(asked, 4);
  is_there = true;
  bell.ring_if_asleep();
  bell.ring_if_asleep();
  EXPECT_EQ(asked, 5);
}

TEST(Doorbell, AHandlersRingAsksNobody) {
  Doorbell bell([]() -> bool { throw "asked"; });
  bell.ring_only();
  EXPECT_TRUE(is_rung(bell));
  EXPECT_TRUE(bell.silence());
}

TEST(Doorbell, AFlusherThatLeavesIsAskedForByTheNextCall) {
  static int asked;
  asked = 0;
  Doorbell bell([] { return ++asked > 0; });
  bell.prepare_to_leave();
  bell.ring_if_asleep();
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(bell.is_rung());
}

TEST(Doorbell, RingsWhetherTheFlusherSleepsOrNot) {
  Doorbell bell;
  bell.ring();
  EXPECT_TRUE(is_rung(bell));
  EXPECT_TRUE(bell.silence());
  EXPECT_FALSE(bell.silence());
}

// The promise behind sleeping without a timer: whatever is put into the box is either seen by the
// last look before sleep, or rings.
TEST(Doorbell, NoItemIsLeftWithASleeper) {
  Doorbell bell;
  constexpr int kItems = 20'000;
  std::atomic<int> box{0};
  std::thread caller([&] {
    for (int i = 1; i <= kItems; ++i) {
      while (box.load(std::memory_order_relaxed) != 0) {
      }
      box.store(i, std::memory_order_relaxed);
      bell.ring_if_asleep();
    }
  });
  int taken = 0;
  while (taken < kItems) {
    if (box.exchange(0, std::memory_order_relaxed) != 0) {
      ++taken;
      continue;
    }
    ASSERT_TRUE(bell.prepare_to_sleep());
    if (box.load(std::memory_order_relaxed) == 0) {
      ASSERT_TRUE(is_rung(bell, 20'000)) << "asleep for ever after item " << taken;
      bell.silence();
    }
    bell.stay_awake();
  }
  caller.join();
}

}  // namespace
}  // namespace pcp::trace::client
