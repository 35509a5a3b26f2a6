// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/turn.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace pcp::trace::agent {
namespace {

TEST(Turn, LocksWhenItIsUsedAndNotBefore) {
  Shared shared({}, {}, steady_now());
  const auto use_engine = [](Turn& turn) { turn.engine(); };
  const auto use_clients = [](Turn& turn) { turn.clients(); };
  for (void (*use)(Turn&) : {+use_engine, +use_clients}) {
    Turn turn(shared, [] { return Instant{Duration{7}}; });
    { const Lock lock(shared.mutex); }
    use(turn);
    EXPECT_EQ(turn.now(), Instant{Duration{7}});
    turn.end();
    { const Lock lock(shared.mutex); }
  }
}

TEST(Turn, LetsTheMainThreadInAtItsNextStep) {
  Shared shared({}, {}, steady_now());
  bool was_in = false;
  Turn turn(shared);
  turn.engine();
  std::thread main_thread([&] {
    const Lock lock(shared.mutex);
    was_in = true;
  });
  while (!shared.mutex.is_wanted()) std::this_thread::yield();
  turn.engine();
  EXPECT_TRUE(was_in);
  turn.end();
  main_thread.join();
}

TEST(Turn, KeepsTheMutexWhileNobodyWantsIt) {
  Shared shared({}, {}, steady_now());
  Turn turn(shared);
  turn.engine();
  const Instant began = turn.now();
  while (steady_now() == began) {
  }
  turn.engine();
  EXPECT_EQ(turn.now(), began);
}

}  // namespace
}  // namespace pcp::trace::agent
