// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/turn.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace pcp::trace::agent {
namespace {

TEST(Turn, LocksWhenItIsUsedAndNotBefore) {
  Shared shared({}, {}, steady_now());
  Turn turn(shared);
  { const std::lock_guard lock(shared.mutex); }
  EXPECT_EQ(&turn.shared(), &shared);
  turn.end();
  { const std::lock_guard lock(shared.mutex); }
}

TEST(Turn, LetsTheMainThreadInAtItsNextStep) {
  Shared shared({}, {}, steady_now());
  bool was_in = false;
  Turn turn(shared);
  turn.shared();
  std::thread main_thread([&] {
    const std::lock_guard lock(shared.mutex);
    was_in = true;
  });
  while (!shared.mutex.wanted()) std::this_thread::yield();
  turn.shared();
  EXPECT_TRUE(was_in);
  turn.end();
  main_thread.join();
}

TEST(Turn, KeepsTheMutexWhileNobodyWantsIt) {
  Shared shared({}, {}, steady_now());
  Turn turn(shared);
  turn.shared();
  const Time began = turn.now();
  while (steady_now() == began) {
  }
  turn.shared();
  EXPECT_EQ(turn.now(), began);
}

}  // namespace
}  // namespace pcp::trace::agent
