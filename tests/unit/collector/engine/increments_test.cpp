// SPDX-License-Identifier: LGPL-2.1-or-later
// Increments that programs add to counters.
#include <limits>

#include <gtest/gtest.h>

#include "fixture.hpp"

namespace pcp::trace::agent {
namespace {

TEST(Increments, AddUpAndCountAsCallsAndLeaveTheLastValueAlone) {
  World world;
  world.value(Counter, "both", 7);
  world.add("both", 2, 10);
  world.add("both", 3, 0.5);
  const auto values = world.find(Counter, "both");
  EXPECT_EQ(values->increments.calls, 5u);
  EXPECT_EQ(values->increments.sum, 10.5);
  EXPECT_EQ(values->total.last, 7);
  EXPECT_EQ(values->total.count, 6u);
  world.value(Counter, "both", 8);
  EXPECT_EQ(world.find(Counter, "both")->increments.sum, 10.5);
  world.at(5s);
  EXPECT_EQ(world.in_window(Counter, "both"), 7u);
}

TEST(Increments, OfALateBatchCountInTheWindowOfTheirTime) {
  World world;
  world.at(30s);
  world.add("late", 4, 20, age(20s, 20s));
  world.add("too late", 4, 20, age(1h, 1h));
  world.at(35s);
  for (const char* name : {"late", "too late"}) {
    EXPECT_EQ(world.find(Counter, name)->increments.calls, 4u) << name;
    EXPECT_EQ(world.find(Counter, name)->increments.sum, 20) << name;
  }
  EXPECT_EQ(world.in_window(Counter, "late"), 4u);
  EXPECT_EQ(world.in_window(Counter, "too late"), 0u);
  EXPECT_EQ(world.engine.counters().late, 4u);
}

TEST(Increments, BeyondTheGreatestNumberStayThere) {
  World world({.max_tags = 1});
  constexpr double kGreatest = std::numeric_limits<double>::max();
  for (const char* name : {"great", "great", "other", "other"}) world.add(name, 1, kGreatest);
  EXPECT_EQ(world.find(Counter, "great")->increments.sum, kGreatest);
  EXPECT_EQ(world.find(Counter, "(overflow)")->increments.sum, kGreatest);
  EXPECT_EQ(world.engine.counters().overflowed, 2u);
}

TEST(Increments, AreForgottenByAReset) {
  World world;
  world.add("a", 2, 10);
  world.engine.reset(world.now);
  world.value(Counter, "a", 3);
  EXPECT_EQ(world.find(Counter, "a")->increments.calls, 0u);
  EXPECT_EQ(world.find(Counter, "a")->increments.sum, 0);
}

}  // namespace
}  // namespace pcp::trace::agent
