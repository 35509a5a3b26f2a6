// SPDX-License-Identifier: LGPL-2.1-or-later
#include <utility>

#include <gtest/gtest.h>

#include "fixture.hpp"

namespace pcp::trace::agent {
namespace {

using Names = std::vector<std::string>;

TEST(EngineInstances, AreNumberedByTypeInTheOrderOfTheirFirstValues) {
  World world;
  world.engine.tag(TraceType::Point, "defined first");
  world.value(TraceType::Point, "b");
  world.value(TraceType::Point, "a");
  world.value(TraceType::Observe, "a");
  world.value(TraceType::Point, "defined first");
  EXPECT_EQ(world.shown(TraceType::Point), (Names{"1 b", "2 a", "3 defined first"}));
  EXPECT_EQ(world.shown(TraceType::Observe), (Names{"1 a"}));
  EXPECT_TRUE(world.shown(TraceType::Counter).empty());
}

TEST(EngineInstances, KeepTheirNumbersThroughAResetAndCountFromZero) {
  World world;
  world.value(TraceType::Point, "a");
  world.value(TraceType::Point, "b");
  const TagIndex b = world.engine.tag(TraceType::Point, "b");
  world.engine.reset(world.now);
  EXPECT_TRUE(world.instances(TraceType::Point).empty());
  world.value(TraceType::Point, "c");
  world.engine.apply_value(b, 1, world.now);
  EXPECT_EQ(world.shown(TraceType::Point), (Names{"3 c", "2 b"}));
  EXPECT_EQ(world.find(TraceType::Point, "b")->total.count, 1u);
}

TEST(EngineInstances, KeepTheirNumbersInTheAgentsNextLife) {
  World first;
  first.value(TraceType::Point, "a");
  first.value(TraceType::Point, "b");
  World second({}, first.known());
  EXPECT_TRUE(second.instances(TraceType::Point).empty());
  second.value(TraceType::Point, "new");
  second.value(TraceType::Point, "b");
  EXPECT_EQ(second.shown(TraceType::Point), (Names{"3 new", "2 b"}));
}

TEST(EngineInstances, GetNumbersAboveTheHighestKnownOne) {
  World world({}, {{TraceType::Point, "old", 41}, {TraceType::Observe, "x", 7}});
  world.value(TraceType::Point, "new");
  world.value(TraceType::Observe, "new");
  EXPECT_EQ(world.shown(TraceType::Point), (Names{"42 new"}));
  EXPECT_EQ(world.shown(TraceType::Observe), (Names{"8 new"}));
}

TEST(EngineInstances, GetNumbersAboveTheReservedOnes) {
  World world({}, {{TraceType::Point, "old", 41}});
  world.engine.begin_numbers_after({0, 1000, 7, 0});
  world.value(TraceType::Point, "new");
  world.value(TraceType::Point, "old");
  world.value(TraceType::Observe, "new");
  world.value(TraceType::Counter, "new");
  EXPECT_EQ(world.shown(TraceType::Point), (Names{"1001 new", "41 old"}));
  EXPECT_EQ(world.shown(TraceType::Observe), (Names{"8 new"}));
  EXPECT_EQ(world.shown(TraceType::Counter), (Names{"1 new"}));
}

TEST(EngineInstances, WithATakenFirstWordShowTheirNumberAfterIt) {
  World world;
  for (const char* tag : {"read a", "read b", "read", "write", "read#2 x", "read#2"}) {
    world.value(TraceType::Point, tag);
  }
  EXPECT_EQ(world.shown(TraceType::Point),
            (Names{"1 read a", "2 read#2 b", "3 read#3", "4 write", "5 read#2#5 x", "6 read#2#6"}));
}

TEST(EngineInstances, ShowTheSameNamesInTheNextLifeInWhicheverOrderTheyComeBack) {
  const Names tags{"a 1", "a 2", "a#2 x", "a", "b\n", "b\\x0a", " a"};
  World first;
  for (const auto& tag : tags) first.value(TraceType::Observe, tag);
  auto names = first.shown(TraceType::Observe);
  World second({}, first.known());
  for (auto tag = tags.rbegin(); tag != tags.rend(); ++tag) second.value(TraceType::Observe, *tag);
  auto names_again = second.shown(TraceType::Observe);
  std::sort(names.begin(), names.end());
  std::sort(names_again.begin(), names_again.end());
  EXPECT_EQ(names, names_again);
}

TEST(EngineInstances, TellHowManyLivesTheyWereAbsent) {
  World first;
  first.value(TraceType::Point, "a");
  first.value(TraceType::Point, "b");
  World second({}, first.known());
  second.value(TraceType::Point, "b");
  const auto known = second.known();
  ASSERT_EQ(known.size(), 2u);
  EXPECT_EQ(known[0].tag, "a");
  EXPECT_EQ(known[0].absent, 1u);
  EXPECT_EQ(known[1].tag, "b");
  EXPECT_EQ(known[1].absent, 0u);
}

TEST(EngineInstances, AbsentForLongestAreForgottenWhenThereAreTooMany) {
  EngineOptions options;
  options.max_tags = 2;
  World world(options, {{TraceType::Point, "a", 1, 0},
                        {TraceType::Point, "b", 2, 5},
                        {TraceType::Point, "c", 3, 2},
                        {TraceType::Point, "d", 4, 3}});
  ASSERT_EQ(world.known().size(), 3u);  // there is room for one more, a bare name
  world.value(TraceType::Point, "b");
  world.value(TraceType::Point, "c");
  EXPECT_EQ(world.shown(TraceType::Point), (Names{"5 b", "3 c"}));
}

TEST(EngineInstances, OfBareNamesBeyondTheOthersKeepTheirNumbersAsWell) {
  EngineOptions options;
  options.max_tags = 2;
  World first(options);
  for (const char* tag : {"a{k=1}", "a{k=2}", "a{k=3}"}) first.value(TraceType::Point, tag);
  const Names names{"1 a{k=1}", "2 a{k=2}", "3 a"};
  EXPECT_EQ(first.shown(TraceType::Point), names);
  World second(options, first.known());
  for (const char* tag : {"a{k=1}", "a{k=2}", "a{k=3}"}) second.value(TraceType::Point, tag);
  EXPECT_EQ(second.shown(TraceType::Point), names);
}

TEST(EngineInstances, ComeInSlicesThatMakeUpTheWhole) {
  World world;
  for (int i = 0; i < 10; ++i) world.value(TraceType::Point, std::to_string(i), i);
  world.at(5s);
  std::vector<TagValues> values;
  std::vector<InstanceName> names;
  std::vector<KnownInstance> known;
  for (std::size_t from = 0; from < 12; from += 4) {
    const std::size_t expected = from == 8 ? 2 : 4;
    EXPECT_EQ(world.engine.snapshot(TraceType::Point, from, 4, world.now, values), expected);
    EXPECT_EQ(world.engine.instances(TraceType::Point, from, 4, names), expected);
    EXPECT_EQ(world.engine.known_instances(from, 4, known), expected);
  }
  EXPECT_EQ(world.engine.snapshot(TraceType::Point, 10, 4, world.now, values), 0u);
  EXPECT_EQ(world.engine.snapshot(TraceType::Point, kAll, kAll, world.now, values), 0u);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(values[i].instance, static_cast<std::int32_t>(i) + 1);
    EXPECT_EQ(values[i].total.last, static_cast<double>(i));
    EXPECT_EQ(names[i].tag, std::to_string(i));
    EXPECT_EQ(known[i].instance, names[i].instance);
  }
}

TEST(EngineInstances, AreCountedByTypeUntilAReset) {
  World world;
  const std::uint32_t life = world.engine.life();
  for (int i = 0; i < 2; ++i) world.value(TraceType::Point, "a");
  world.value(TraceType::Observe, "a");
  EXPECT_EQ(world.engine.instance_count(TraceType::Point), 1u);
  EXPECT_EQ(world.engine.life(), life);
  world.engine.reset(world.now);
  EXPECT_EQ(world.engine.instance_count(TraceType::Point), 0u);
  EXPECT_NE(world.engine.life(), life);
}

TEST(EngineInstances, CountTheirChanges) {
  World world;
  std::uint64_t seen = world.engine.changes();
  const auto changed = [&] {
    const std::uint64_t before = std::exchange(seen, world.engine.changes());
    return seen != before;
  };
  EXPECT_FALSE(changed());
  world.value(TraceType::Point, "a");
  EXPECT_TRUE(changed());
  world.value(TraceType::Point, "a");
  EXPECT_FALSE(changed());
  const TagIndex tag = world.engine.tag(TraceType::Point, "a");
  const auto shop = std::make_shared<const Origin>(Origin{"uid 1", 1, {}});
  world.engine.note_origin(tag, shop);
  EXPECT_TRUE(changed());
  world.engine.note_origin(tag, shop);
  EXPECT_FALSE(changed());
  world.engine.reset(world.now);
  EXPECT_TRUE(changed());
}

TEST(EngineOrigins, AreShownUnlessProcessesHaveNothingInCommon) {
  World world;
  const auto in_zone = [](const char* user, const char* zone) {
    Origin origin{user, {}};
    origin.labels.add("zone", zone);
    return std::make_shared<const Origin>(origin);
  };
  const auto shop = in_zone("uid 1", "a");
  const auto same = in_zone("uid 2", "a");
  const auto other = in_zone("uid 1", "b");
  const TagIndex tag = world.engine.tag(TraceType::Point, "p");
  world.value(TraceType::Point, "p");
  EXPECT_EQ(world.instances(TraceType::Point)[0].origin, nullptr);

  world.engine.note_origin(tag, shop);
  const std::uint64_t changes = world.engine.changes();
  world.engine.note_origin(tag, same);
  EXPECT_EQ(world.instances(TraceType::Point)[0].origin, shop);
  EXPECT_EQ(world.engine.changes(), changes);

  world.engine.note_origin(tag, other);
  EXPECT_EQ(world.instances(TraceType::Point)[0].origin, nullptr);
  EXPECT_NE(world.engine.changes(), changes);
  world.engine.note_origin(tag, shop);
  EXPECT_EQ(world.instances(TraceType::Point)[0].origin, nullptr);
}

// The origin of a process with these labels.
std::shared_ptr<const Origin> process(
    std::initializer_list<std::pair<const char*, const char*>> labels) {
  Origin origin{"uid 1", 1, {}};
  for (const auto& [name, value] : labels) origin.labels.add(name, value);
  return std::make_shared<const Origin>(origin);
}

// The labels that are left on the only instance.
std::string kept(World& world) {
  const InstanceName name = world.instances(TraceType::Point).at(0);
  return name.origin ? name.origin->labels.part(name.labels_kept).members() : "none";
}

TEST(EngineOrigins, KeepTheLabelsThatAllProcessesHave) {
  World world;
  world.value(TraceType::Point, "p");
  const TagIndex tag = world.engine.tag(TraceType::Point, "p");
  const auto first = process({{"zone", "eu"}, {"rank", "1"}, {"service", "shop"}});
  world.engine.note_origin(tag, first);
  EXPECT_EQ(kept(world), R"("rank":"1","service":"shop","zone":"eu")");
  world.engine.note_origin(tag, process({{"service", "shop"}, {"zone", "eu"}, {"rank", "2"}}));
  EXPECT_EQ(kept(world), R"("service":"shop","zone":"eu")");
  world.engine.note_origin(tag, process({{"service", "shop"}, {"more", "x"}}));
  EXPECT_EQ(kept(world), R"("service":"shop")");
  world.engine.note_origin(tag, first);  // lost labels do not come back
  EXPECT_EQ(kept(world), R"("service":"shop")");
  world.engine.note_origin(tag, process({{"service", "other"}}));
  EXPECT_EQ(kept(world), "none");
}

TEST(EngineOrigins, OfProgramsThatSayNothingOfThemselvesLeaveNone) {
  for (const bool is_first : {true, false}) {
    World world;
    world.value(TraceType::Point, "p");
    const TagIndex tag = world.engine.tag(TraceType::Point, "p");
    if (is_first) world.engine.note_origin(tag, nullptr);
    world.engine.note_origin(tag, process({{"zone", "eu"}}));
    if (!is_first) world.engine.note_origin(tag, nullptr);
    EXPECT_EQ(kept(world), "none");
  }
}

TEST(EngineOrigins, BeginAnewWithAReset) {
  World world;
  const auto note = [&world](const std::shared_ptr<const Origin>& origin) {
    const TagIndex tag = world.engine.tag(TraceType::Point, "p");
    world.engine.note_origin(tag, origin);
    world.engine.apply_value(tag, 1, world.now);
  };
  note(process({{"rank", "1"}}));
  note(process({{"rank", "2"}}));
  EXPECT_EQ(kept(world), "none");
  world.engine.reset(world.now);
  note(process({{"rank", "2"}}));
  EXPECT_EQ(kept(world), R"("rank":"2")");
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
  const TagIndex tag = world.engine.tag(TraceType::Point, "p");
  world.value(TraceType::Point, "p");
  EXPECT_TRUE(world.engine.describe(tag, own));
  EXPECT_TRUE(world.engine.describe(tag, same));
  EXPECT_EQ(same, first);  // one copy is kept
  EXPECT_FALSE(world.engine.describe(tag, other));
  EXPECT_TRUE(world.engine.describe(tag, other));  // complained of once
  EXPECT_EQ(world.instances(TraceType::Point)[0].description, first);
  world.engine.reset(world.now);
  world.value(TraceType::Point, "p");
  EXPECT_EQ(world.instances(TraceType::Point)[0].description, nullptr);
  EXPECT_TRUE(world.engine.describe(tag, other));
  EXPECT_EQ(world.instances(TraceType::Point)[0].description, other);
}

}  // namespace
}  // namespace pcp::trace::agent
