// SPDX-License-Identifier: LGPL-2.1-or-later
// The greatest numbers that peers may send, honestly or not: totals of all peers stay finite, and
// never go back.

#include <gtest/gtest.h>

#include "fixture.hpp"

namespace pcp::trace::agent {
namespace {

constexpr double kGreatest = std::numeric_limits<double>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t kMostOfADelta = std::uint64_t{1} << 60;
constexpr std::uint64_t kMostCalls = std::numeric_limits<std::int64_t>::max();

void apply_many_calls(World& world, const char* tag, const wire::BatchAge& age = {}) {
  Delta delta;
  delta.add(1);
  delta.count = delta.unbinned = kMostOfADelta;
  for (int i = 0; i < 20; ++i)
    world.engine.apply(world.engine.tag(Observe, tag), delta, {}, age, world.now);
}

TEST(ExtremeNumbers, CountsStayAtTheGreatestAlsoOfOverflow) {
  World world({.max_tags = 1});
  apply_many_calls(world, "tag");
  apply_many_calls(world, "without room");
  EXPECT_EQ(world.find(Observe, "tag")->total.count, kMostCalls);
  EXPECT_EQ(world.engine.counters().overflowed, kMostCalls);
  world.at(5s);
  EXPECT_EQ(world.in_window(Observe, "tag"), kMostCalls);
}

TEST(ExtremeNumbers, CountsOfLateBatchesStayAtTheGreatest) {
  World world;
  world.at(60s);
  apply_many_calls(world, "tag", age(45s, 5s));
  EXPECT_EQ(world.find(Observe, "tag")->total.count, kMostCalls);
  world.at(65s);
  EXPECT_GE(world.in_window(Observe, "tag"), kMostCalls - kMostOfADelta);
  world.at(600s);
  apply_many_calls(world, "tag", age(500s, 400s));
  EXPECT_EQ(world.engine.counters().late, kMostCalls);
}

// The true sum is lost, so they stay finite and unchanged.
TEST(ExtremeNumbers, SumsThatWereTooGreatStayAtTheGreatest) {
  World world;
  world.batch(Observe, "tag", {1e308, 1e308});
  EXPECT_EQ(world.find(Observe, "tag")->total.sum, kGreatest);
  world.at(1s);
  world.batch(Observe, "tag", {-1e308, -1e308});
  EXPECT_EQ(world.find(Observe, "tag")->total.sum, kGreatest);
  world.at(5s);
  EXPECT_EQ(world.find(Observe, "tag")->window.sum, kGreatest);
  world.batch(Observe, "tag", {-1e308, -1e308});
  world.at(10s);
  const auto values = world.find(Observe, "tag");
  EXPECT_EQ(values->window.sum, kGreatest);
  EXPECT_EQ(values->window.min, -1e308);
  EXPECT_EQ(values->window.max, 1e308);
}

TEST(ExtremeNumbers, SumsOfWhatIsDealtToSeveralIntervalsStayAtTheGreatest) {
  World world;
  world.at(60s);
  Delta delta;
  for (int i = 0; i < 4; ++i) delta.add(1e308);
  world.engine.apply(world.engine.tag(Observe, "tag"), delta, {}, age(20s, 5s), world.now);
  world.at(65s);
  EXPECT_EQ(world.find(Observe, "tag")->window.sum, kGreatest);
}

TEST(ExtremeNumbers, SumsOfSingleValuesStayAtTheGreatest) {
  World world;
  for (const double value : {1e308, 1e308, kInfinity, -kInfinity, kNaN, -1e308})
    world.value(Observe, "tag", value);
  const auto before = world.find(Observe, "tag");
  EXPECT_EQ(before->total.sum, kGreatest);
  EXPECT_EQ(before->total.count, 6u);
  EXPECT_EQ(before->total.nonfinite, 3u);
  world.at(5s);
  EXPECT_EQ(world.find(Observe, "tag")->window.sum, kGreatest);
}

}  // namespace
}  // namespace pcp::trace::agent
