// SPDX-License-Identifier: LGPL-2.1-or-later
// Transactions that have begun and not ended.
#include <gtest/gtest.h>

#include "fixture.hpp"

namespace pcp::trace::agent {
namespace {

// A world whose holders are in process 7; each has the thread of its own number.
struct InFlightWorld : World {
  using World::World;

  struct Entered {
    TagIndex tag;
    OpenShare share;
  };
  Entered enter(std::string_view name, std::uint64_t holder, std::uint64_t open, Duration began) {
    return enter(engine.tag(Transact, name), holder, open, began);
  }
  Entered enter(TagIndex tag, std::uint64_t holder, std::uint64_t open, Duration began) {
    const OpenShare share{holder, open, kStart + began, 7, static_cast<std::uint32_t>(holder)};
    return {engine.enter(tag, share, now), share};
  }
  void leave(const Entered& entered) { engine.leave(entered.tag, entered.share); }

  TagValues::InFlight in_flight(std::string_view name) {
    const auto values = find(Transact, name);
    EXPECT_TRUE(values) << name;
    return values ? values->in_flight : TagValues::InFlight{};
  }
};

TEST(InFlight, OfManyHoldersAddsUpAndShowsTheOldest) {
  InFlightWorld world;
  world.at(100s);
  world.enter("a", 1, 2, 90s);
  const auto oldest = world.enter("a", 2, 30, 40s);
  const auto third = world.enter("a", 3, 400, 60s);
  world.enter("a", 5, 1000, 60s);  // at once with another one
  world.enter("b", 4, 1, 0s);
  auto shown = world.in_flight("a");
  EXPECT_EQ(shown.open, 1432u);
  EXPECT_EQ(shown.oldest_age, 60s);
  EXPECT_EQ(shown.pid, 7u);
  EXPECT_EQ(shown.tid, 2u);
  EXPECT_EQ(shown.vanished, 0u);

  world.leave(oldest);
  shown = world.in_flight("a");
  EXPECT_EQ(shown.open, 1402u);
  EXPECT_EQ(shown.oldest_age, 40s);
  EXPECT_EQ(shown.tid, 3u);
  EXPECT_EQ(world.in_flight("b").open, 1u);
  world.leave(third);
  EXPECT_EQ(world.in_flight("a").open, 1002u);
  EXPECT_EQ(world.in_flight("a").tid, 5u);
}

TEST(InFlight, GrowsOlderWhileNobodySaysAnythingAndIsNeverYoungerThanNothing) {
  InFlightWorld world;
  world.enter("a", 1, 1, 5s);  // a fetch has read the clock before the mutex was free
  EXPECT_EQ(world.in_flight("a").oldest_age, 0s);
  world.at(1h);
  EXPECT_EQ(world.in_flight("a").oldest_age, 1h - 5s);
}

TEST(InFlight, ShowsATagThatHasNeverEnded) {
  InFlightWorld world;
  const auto entered = world.enter("a", 1, 1, 0s);
  EXPECT_EQ(world.shown(Transact), (std::vector<std::string>{"1 a"}));
  EXPECT_EQ(world.engine.counters().tags, 1u);
  world.at(5s);
  const auto values = world.find(Transact, "a");
  EXPECT_EQ(values->total.count, 0u);
  EXPECT_FALSE(values->in_window);
  EXPECT_FALSE(values->has_quantiles);
  world.leave(entered);
  EXPECT_EQ(world.in_flight("a").open, 0u);
  EXPECT_EQ(world.in_flight("a").oldest_age, 0s);
  EXPECT_EQ(world.in_flight("a").pid, 0u);
}

TEST(InFlight, IsForgottenByAReset) {
  InFlightWorld world;
  world.value(Transact, "a");
  world.enter("a", 1, 5, 0s);
  world.engine.vanish(world.engine.tag(Transact, "a"), 3, world.now);
  world.engine.reset(world.now);
  EXPECT_TRUE(world.instances(Transact).empty());
  world.enter("a", 1, 5, 0s);
  EXPECT_EQ(world.in_flight("a").open, 5u);
  EXPECT_EQ(world.in_flight("a").vanished, 0u);
  EXPECT_EQ(world.shown(Transact), (std::vector<std::string>{"1 a"}));
}

TEST(InFlight, ThatVanishesIsCounted) {
  InFlightWorld world;
  world.leave(world.enter("a", 1, 5, 0s));
  const TagIndex tag = world.engine.tag(Transact, "a");
  world.engine.vanish(tag, 5, world.now);
  world.engine.vanish(tag, 2, world.now);
  EXPECT_EQ(world.in_flight("a").vanished, 7u);
  EXPECT_EQ(world.in_flight("a").open, 0u);
  world.leave(world.enter("a", 1, 1, 0s));
  EXPECT_EQ(world.in_flight("a").vanished, 7u);
  world.engine.vanish(world.engine.tag(Transact, "b"), 1, world.now);
  EXPECT_EQ(world.in_flight("b").vanished, 1u);
}

TEST(InFlight, WithoutRoomForATagIsInOverflowAndLeavesFromThere) {
  InFlightWorld world({.max_tags = 1});
  world.value(Transact, "a");
  const auto b = world.enter("b", 1, 2, 0s);
  const auto c = world.enter("c", 2, 3, 0s);
  EXPECT_EQ(world.in_flight("(overflow)").open, 5u);
  world.leave(c);
  // Room is reserved for bare names of tags with labels that have none.
  world.enter(world.engine.folded_tag(Transact, "b"), 2, 3, 0s);
  EXPECT_EQ(world.in_flight("b").open, 3u);
  world.leave(b);
  EXPECT_EQ(world.in_flight("(overflow)").open, 0u);
  EXPECT_EQ(world.in_flight("b").open, 3u);
  EXPECT_EQ(world.engine.counters().overflowed, 0u);  // it counts calls only
}

TEST(InFlight, OfTagsWithLabelsAndNoRoomIsUnderTheirName) {
  InFlightWorld world({.max_tags = 1});
  world.value(Transact, "a");
  world.enter("b{k=1}", 1, 2, 0s);
  const auto second = world.enter(world.engine.folded_tag(Transact, "b"), 2, 3, -1s);
  EXPECT_EQ(world.in_flight("b").open, 5u);
  EXPECT_EQ(world.in_flight("b").tid, 2u);
  world.leave(second);
  EXPECT_EQ(world.in_flight("b").open, 2u);
  EXPECT_EQ(world.engine.counters().folded, 0u);
  world.engine.vanish(world.engine.tag(Transact, "b{k=1}"), 2, world.now);
  EXPECT_EQ(world.engine.counters().folded, 2u);
}

}  // namespace
}  // namespace pcp::trace::agent
