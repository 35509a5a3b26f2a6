// SPDX-License-Identifier: LGPL-2.1-or-later
#include <utility>

#include <gtest/gtest.h>

#include "fixture.hpp"

namespace pcp::trace::agent {
namespace {

using Names = std::vector<std::string>;

// Each value makes an instance of its tag.
void come(World& world, std::initializer_list<const char*> tags) {
  for (const char* tag : tags) world.value(Point, tag);
}

TEST(EngineInstances, AreNumberedByTypeInTheOrderOfTheirFirstValues) {
  World world;
  world.engine.tag(Point, "defined first");
  world.value(Point, "b");
  world.value(Point, "a");
  world.value(Observe, "a");
  world.value(Point, "defined first");
  EXPECT_EQ(world.shown(Point), (Names{"1 b", "2 a", "3 defined first"}));
  EXPECT_EQ(world.shown(Observe), (Names{"1 a"}));
  EXPECT_TRUE(world.shown(Counter).empty());
}

TEST(EngineInstances, GetNumbersAboveTheHighestKnownAndTheReservedOnes) {
  World world({}, {{Point, "old", 41}, {Observe, "x", 7}});
  world.value(Point, "new");
  EXPECT_EQ(world.shown(Point), (Names{"42 new"}));
  world.engine.begin_numbers_after({0, 1000, 6, 7});
  come(world, {"newer", "old"});
  for (const TraceType type : {Observe, Counter, Transact}) world.value(type, "new");
  EXPECT_EQ(world.shown(Point), (Names{"42 new", "1001 newer", "41 old"}));
  EXPECT_EQ(world.shown(Observe), (Names{"8 new"}));
  EXPECT_EQ(world.shown(Counter), (Names{"8 new"}));
  EXPECT_EQ(world.shown(Transact), (Names{"1 new"}));
}

TEST(EngineInstances, ShowTheSameNamesInTheNextLifeInWhicheverOrderTheyComeBack) {
  const Names tags{"a 1", "a 2", "a#2 x", "a", "b\n", "b\\x0a", " a"};
  World first;
  for (const auto& tag : tags) first.value(Observe, tag);
  auto names = first.shown(Observe);
  World second({}, first.known());
  for (auto tag = tags.rbegin(); tag != tags.rend(); ++tag) second.value(Observe, *tag);
  auto names_again = second.shown(Observe);
  std::sort(names.begin(), names.end());
  std::sort(names_again.begin(), names_again.end());
  EXPECT_EQ(names, names_again);
}

TEST(EngineInstances, TellHowManyLivesTheyWereAbsent) {
  World first;
  come(first, {"a", "b"});
  World second({}, first.known());
  second.value(Point, "b");
  EXPECT_EQ(second.known(), (std::vector<KnownInstance>{{Point, "a", 1, 1}, {Point, "b", 2, 0}}));
}

TEST(EngineInstances, AbsentForLongestAreForgottenWhenThereAreTooMany) {
  const EngineOptions options{.max_tags = 2};
  World world(options,
              {{Point, "a", 1, 0}, {Point, "b", 2, 5}, {Point, "c", 3, 2}, {Point, "d", 4, 3}});
  ASSERT_EQ(world.known().size(), 3u);  // there is room for one more, a bare name
  come(world, {"b", "c"});
  EXPECT_EQ(world.shown(Point), (Names{"5 b", "3 c"}));
}

TEST(EngineInstances, OfATagThatIsListedTwiceHaveTheGreaterNumber) {
  std::vector<KnownInstance> known{
      {Point, "a", 1, 0}, {Counter, "a", 9, 0}, {Point, "b", 3, 0}, {Point, "a", 7, 1}};
  drop_repeated(known);
  EXPECT_EQ(known, (std::vector<KnownInstance>{
                       {Point, "a", 7, 1}, {Point, "b", 3, 0}, {Counter, "a", 9, 0}}));
}

TEST(EngineInstances, OfBareNamesBeyondTheOthersKeepTheirNumbersAsWell) {
  std::vector<KnownInstance> known;
  for (int life = 0; life < 2; ++life) {
    World world({.max_tags = 2}, known);
    come(world, {"a{k=1}", "a{k=2}", "a{k=3}"});
    EXPECT_EQ(world.shown(Point), (Names{"1 a{k=1}", "2 a{k=2}", "3 a"})) << life;
    known = world.known();
  }
}

TEST(EngineInstances, ComeInSlicesThatMakeUpTheWhole) {
  World world;
  for (int i = 0; i < 10; ++i) world.value(Point, std::to_string(i), i);
  world.at(5s);
  std::vector<TagValues> values;
  std::vector<InstanceName> names;
  std::vector<KnownInstance> known;
  for (std::size_t from = 0; from < 12; from += 4) {
    const std::size_t expected = from == 8 ? 2 : 4;
    EXPECT_EQ(world.engine.snapshot(Point, from, 4, world.now, values), expected);
    EXPECT_EQ(world.engine.instances(Point, from, 4, names), expected);
    EXPECT_EQ(world.engine.known_instances(from, 4, known), expected);
  }
  EXPECT_EQ(world.engine.snapshot(Point, 10, 4, world.now, values), 0u);
  EXPECT_EQ(world.engine.snapshot(Point, kAll, kAll, world.now, values), 0u);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(values[i].instance, static_cast<std::int32_t>(i) + 1);
    EXPECT_EQ(values[i].total.last, static_cast<double>(i));
    EXPECT_EQ(names[i].tag, std::to_string(i));
    EXPECT_EQ(known[i].instance, names[i].instance);
  }
}

TEST(EngineInstances, AreCountedAndCountTheirChanges) {
  World world;
  const std::uint32_t life = world.engine.life();
  std::uint64_t seen = world.engine.changes();
  const auto changed = [&] {
    const std::uint64_t before = std::exchange(seen, world.engine.changes());
    return seen != before;
  };
  world.value(Point, "a");
  EXPECT_TRUE(changed());
  world.value(Point, "a");
  EXPECT_FALSE(changed());
  EXPECT_EQ(world.engine.instance_count(Point), 1u);
  const TagIndex tag = world.engine.tag(Point, "a");
  const auto shop = process({});
  world.engine.note_origin(tag, shop);
  EXPECT_TRUE(changed());
  world.engine.note_origin(tag, shop);
  EXPECT_FALSE(changed());
  world.value(Observe, "a");
  EXPECT_EQ(world.engine.instance_count(Point), 1u);
  EXPECT_EQ(world.engine.life(), life);
  seen = world.engine.changes();
  world.engine.reset(world.now);
  EXPECT_TRUE(changed());
  EXPECT_EQ(world.engine.instance_count(Point), 0u);
  EXPECT_NE(world.engine.life(), life);
}

struct EngineOrigins : testing::Test {
  using Labels = std::initializer_list<std::pair<const char*, const char*>>;

  void note(const std::shared_ptr<const Origin>& origin) { world.engine.note_origin(tag, origin); }
  // The labels that the tag has after one more process with these.
  std::string kept_with(Labels labels) {
    note(process(labels));
    return world.labels_kept(Point, 0);
  }

  World world;
  TagIndex tag = (world.value(Point, "p"), world.engine.tag(Point, "p"));
};

TEST_F(EngineOrigins, AreShownUnlessProcessesHaveNothingInCommon) {
  const auto shown = [&] { return world.instances(Point)[0].origin; };
  EXPECT_EQ(shown(), nullptr);
  const auto shop = process({{"zone", "a"}});
  note(shop);
  const std::uint64_t changes = world.engine.changes();
  note(process({{"zone", "a"}}, "uid 2"));
  EXPECT_EQ(shown(), shop);
  EXPECT_EQ(world.engine.changes(), changes);
  note(process({{"zone", "b"}}));
  EXPECT_EQ(shown(), nullptr);
  EXPECT_NE(world.engine.changes(), changes);
  note(shop);
  EXPECT_EQ(shown(), nullptr);
}

TEST_F(EngineOrigins, KeepTheLabelsThatAllProcessesHaveUntilAReset) {
  const Labels first = {{"zone", "eu"}, {"rank", "1"}, {"service", "shop"}};
  EXPECT_EQ(kept_with(first), R"("rank":"1","service":"shop","zone":"eu")");
  EXPECT_EQ(kept_with({{"service", "shop"}, {"zone", "eu"}, {"rank", "2"}}),
            R"("service":"shop","zone":"eu")");
  EXPECT_EQ(kept_with({{"service", "shop"}, {"more", "x"}}), R"("service":"shop")");
  EXPECT_EQ(kept_with(first), R"("service":"shop")");  // lost labels do not come back
  EXPECT_EQ(kept_with({{"service", "other"}}), "none");
  world.engine.reset(world.now);
  world.engine.note_origin(tag, process(first));
  world.engine.apply_value(tag, 1, world.now);
  EXPECT_EQ(kept_with(first), R"("rank":"1","service":"shop","zone":"eu")");
}

TEST_F(EngineOrigins, OfProgramsThatSayNothingOfThemselvesLeaveNone) {
  note(process({{"zone", "eu"}}));
  note(nullptr);
  EXPECT_EQ(world.labels_kept(Point, 0), "none");
  world.engine.reset(world.now);
  world.value(Point, "p");
  note(nullptr);
  EXPECT_EQ(kept_with({{"zone", "eu"}}), "none");
}

TEST(EngineDescriptions, OfTheFirstProcessStayUntilAReset) {
  World world;
  const auto text = [](const char* unit) {
    LabelText labels;
    labels.add("unit", unit);
    return std::make_shared<const LabelText>(labels);
  };
  const auto first = text("ms");
  auto own = first;
  auto same = text("ms");
  auto other = text("s");
  const TagIndex tag = world.engine.tag(Point, "p");
  world.value(Point, "p");
  EXPECT_TRUE(world.engine.describe(tag, own));
  EXPECT_TRUE(world.engine.describe(tag, same));
  EXPECT_EQ(same, first);  // one copy is kept
  EXPECT_FALSE(world.engine.describe(tag, other));
  EXPECT_TRUE(world.engine.describe(tag, other));  // complained of once
  EXPECT_EQ(world.instances(Point)[0].description, first);
  world.engine.reset(world.now);
  world.value(Point, "p");
  EXPECT_EQ(world.instances(Point)[0].description, nullptr);
  EXPECT_TRUE(world.engine.describe(tag, other));
  EXPECT_EQ(world.instances(Point)[0].description, other);
}

}  // namespace
}  // namespace pcp::trace::agent
