// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/courteous_mutex.hpp"

#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace pcp::trace {
namespace {

void wait_until_wanted(const CourteousMutex& mutex) {
  while (!mutex.is_wanted()) std::this_thread::yield();
}

// A hundred times, for without courtesy either one might go first.
TEST(CourteousMutex, LetsWhoeverLocksItPlainlyGoFirst) {
  CourteousMutex mutex;
  std::string order;
  std::string expected;
  for (int i = 0; i < 100; ++i) {
    mutex.lock();
    std::thread courteous([&] {
      const CourteousLock lock(mutex);
      order += 'c';
    });
    std::thread plain([&] {
      const Lock lock(mutex);
      order += 'p';
    });
    wait_until_wanted(mutex);
    mutex.unlock();
    plain.join();
    courteous.join();
    expected += "pc";
  }
  EXPECT_EQ(order, expected);
}

TEST(CourteousMutex, TellsTheHolderThatItIsWantedUntilItIsGivenUp) {
  CourteousMutex mutex;
  mutex.lock_courteously();
  EXPECT_FALSE(mutex.is_wanted());
  std::thread other([&] { const Lock lock(mutex); });
  wait_until_wanted(mutex);
  mutex.unlock();
  other.join();
  EXPECT_FALSE(mutex.is_wanted());
}

TEST(CourteousMutex, ExcludesEverybodyElse) {
  CourteousMutex mutex;
  constexpr int kRounds = 20'000;
  int sum = 0;
  std::thread courteous([&] {
    for (int i = 0; i < kRounds; ++i) {
      mutex.lock_courteously();
      ++sum;
      mutex.unlock();
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    const Lock lock(mutex);
    ++sum;
  }
  courteous.join();
  EXPECT_EQ(sum, 2 * kRounds);
}

}  // namespace
}  // namespace pcp::trace
