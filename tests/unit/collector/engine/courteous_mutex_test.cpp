// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/courteous_mutex.hpp"

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace pcp::trace::agent {
namespace {

void wait_until_wanted(const CourteousMutex& mutex) {
  while (!mutex.wanted()) std::this_thread::yield();
}

TEST(CourteousMutex, LetsWhoeverLocksItPlainlyGoFirst) {
  CourteousMutex mutex;
  std::vector<char> order;
  mutex.lock();
  std::thread courteous([&] {
    mutex.lock_courteously();
    order.push_back('c');
    mutex.unlock();
  });
  std::thread plain([&] {
    const std::lock_guard lock(mutex);
    order.push_back('p');
  });
  wait_until_wanted(mutex);
  mutex.unlock();
  plain.join();
  courteous.join();
  EXPECT_EQ(order, (std::vector<char>{'p', 'c'}));
}

TEST(CourteousMutex, TellsTheHolderThatItIsWantedUntilItIsGivenUp) {
  CourteousMutex mutex;
  mutex.lock_courteously();
  EXPECT_FALSE(mutex.wanted());
  std::thread other([&] { const std::lock_guard lock(mutex); });
  wait_until_wanted(mutex);
  mutex.unlock();
  other.join();
  EXPECT_FALSE(mutex.wanted());
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
    const std::lock_guard lock(mutex);
    ++sum;
  }
  courteous.join();
  EXPECT_EQ(sum, 2 * kRounds);
}

}  // namespace
}  // namespace pcp::trace::agent
