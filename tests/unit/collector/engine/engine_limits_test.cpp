// SPDX-License-Identifier: LGPL-2.1-or-later
// The engine does not grow when it gets more than it has room for.
#include <malloc.h>

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "fixture.hpp"

namespace pcp::trace::agent {
namespace {

// Zero under the address sanitizer, which has a heap of its own.
std::size_t heap_bytes() {
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST(EngineOverflow, TakesExactlyWhatHasNoRoomUntilAResetMakesRoom) {
  World world({.max_tags = 3});
  for (int i = 0; i < 5; ++i) world.batch(Observe, "tag" + std::to_string(i), {1.0 * i, 2.0 * i});
  world.value(Point, "p");
  EXPECT_EQ(world.shown(Observe),
            (std::vector<std::string>{"1 tag0", "2 tag1", "3 tag2", "0 (overflow)"}));
  EXPECT_EQ(world.shown(Point), (std::vector<std::string>{"0 (overflow)"}));
  EXPECT_EQ(world.engine.counters().tags, 3u);
  EXPECT_EQ(world.engine.counters().overflowed, 5u);
  world.at(5s);
  const auto values = world.find(Observe, "(overflow)");
  EXPECT_EQ(values->total.count, 4u);
  EXPECT_EQ(values->total.sum, 21.0);
  EXPECT_EQ(values->window.max, 8.0);
  world.engine.reset(world.now);
  world.value(Point, "p");
  EXPECT_EQ(world.shown(Point), (std::vector<std::string>{"1 p"}));
}

TEST(EngineOverflow, IsNotSavedAndHasTheSameNumberInEveryLife) {
  World world({.max_tags = 1});
  world.value(Point, "a");
  world.value(Point, "b");
  ASSERT_EQ(world.known().size(), 1u);
  World second({.max_tags = 1}, world.known());
  second.value(Point, "c");
  second.value(Point, "b");
  EXPECT_EQ(second.shown(Point), (std::vector<std::string>{"2 c", "0 (overflow)"}));
}

// Processes with too many tags, and programs with a tag of this name: they had room here.
TEST(EngineOverflow, HasWhatProcessesCountInTheirsUnderItsOwnNumber) {
  World world({.max_tags = 1}, {{Point, "(overflow)", 7, 0}});  // by an earlier agent
  for (const char* tag : {"(overflow)", "a", "b"}) world.value(Point, tag);
  EXPECT_EQ(world.shown(Point), (std::vector<std::string>{"0 (overflow)", "8 a"}));
  EXPECT_EQ(world.find(Point, "(overflow)")->total.count, 2u);
  EXPECT_EQ(world.engine.counters().overflowed, 1u);
  EXPECT_EQ(world.engine.counters().tags, 1u);
  ASSERT_EQ(world.known().size(), 1u);
}

TEST(EngineFolding, GivesTheBareNameTheCallsOfTagsWithLabelsThatHaveNoRoom) {
  World world({.max_tags = 2});
  world.batch(Observe, "a", {1.0});
  world.batch(Observe, "b{k=0}", {2.0});
  for (int round = 0; round < 2; ++round) {
    for (int i = 1; i < 4; ++i) world.batch(Observe, "b{k=" + std::to_string(i) + "}", {1.0 * i});
    world.batch(Observe, "c", {10.0});
    world.batch(Observe, "b{k=0}", {2.0});
  }
  EXPECT_EQ(world.shown(Observe),
            (std::vector<std::string>{"1 a", "2 b{k=0}", "3 b", "0 (overflow)"}));
  const auto folded = world.find(Observe, "b");
  EXPECT_EQ(folded->total.count, 6u);
  EXPECT_EQ(folded->total.sum, 12.0);
  EXPECT_EQ(world.find(Observe, "b{k=0}")->total.count, 3u);
  EXPECT_EQ(world.engine.counters().folded, 6u);
  EXPECT_EQ(world.engine.counters().overflowed, 2u);
  EXPECT_EQ(world.engine.counters().tags, 3u);
}

TEST(EngineFolding, EndsInOverflowWhereBareNamesHaveNoRoomEither) {
  World world({.max_tags = 1});
  world.value(Point, "a");
  world.value(Point, "b");  // overflows now, but gets room when its labels come
  for (const char* tag : {"b{k=1}", "c{k=1}", "c{k=2}", "(overflow){k=1}", "b", "a{k=1}"})
    world.value(Point, tag);
  EXPECT_EQ(world.shown(Point), (std::vector<std::string>{"1 a", "0 (overflow)", "2 b"}));
  EXPECT_EQ(world.find(Point, "a")->total.count, 2u);
  EXPECT_EQ(world.find(Point, "b")->total.count, 2u);
  EXPECT_EQ(world.find(Point, "(overflow)")->total.count, 4u);
  EXPECT_EQ(world.engine.counters().folded, 2u);
  EXPECT_EQ(world.engine.counters().overflowed, 4u);
}

// The engine knows at most twice as many names as it may have tags.
TEST(EngineFolding, IsExactForNamesThatTheEngineDoesNotKnow) {
  World world({.max_tags = 10});
  const auto name = [](int i) { return "b{k=" + std::to_string(i) + "}"; };
  for (int i = 0; i < 100; ++i) world.engine.tag(Point, name(i));
  for (int i = 99; i >= 0; --i) world.value(Point, name(i));
  EXPECT_EQ(world.engine.counters().folded, 91u);
  EXPECT_EQ(world.engine.counters().overflowed, 0u);
  EXPECT_EQ(world.find(Point, "b")->total.count, 91u);
  EXPECT_EQ(world.engine.counters().tags, 10u);
}

TEST(EngineFolding, KeepsOfTheLabelsOfProcessesWhatAllHaveWhoseCallsCameTogether) {
  World world({.max_tags = 1});
  const auto send = [&](const char* tag, const char* rank) {
    const TagIndex index = world.engine.tag(Point, tag);
    world.engine.note_origin(index, process({{"rank", rank}, {"service", "shop"}}));
    world.engine.apply_value(index, 1, world.now);
  };
  send("a", "1");
  send("b{k=1}", "1");
  EXPECT_EQ(world.labels_kept(Point, 1), R"("rank":"1","service":"shop")");
  send("b{k=1}", "2");
  EXPECT_EQ(world.labels_kept(Point, 1), R"("service":"shop")");
}

TEST(EngineLimits, NamesThatAreOnlyInventedCostBoundedMemory) {
  World world({.max_tags = 100});
  for (int i = 0; i < 1000; ++i) world.engine.tag(Point, "x" + std::to_string(i));
  const std::size_t before = heap_bytes();
  for (int i = 1000; i < 100'000; ++i) {
    world.engine.tag(Point, "x" + std::to_string(i));
  }
  EXPECT_LE(heap_bytes(), before + 4096);
  world.value(Point, "yet another");
  EXPECT_EQ(world.shown(Point), (std::vector<std::string>{"0 (overflow)"}));
  world.value(Point, "x5");
  EXPECT_EQ(world.shown(Point)[1], "1 x5");
}

// Resets and new names without end: each life has two names more than there is room for.
TEST(EngineReset, MakesRoomForNewNamesInBoundedMemoryAndGivesNoNumberToTwoTags) {
  constexpr std::uint32_t kTags = 20;
  constexpr std::uint32_t kRounds = 1000;
  World world({.max_tags = kTags});
  std::int32_t last = 0;
  std::size_t before = 0;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    if (round == kRounds / 2) before = heap_bytes();
    for (std::uint32_t i = 0; i < kTags + 2; ++i)
      world.value(Point, "round " + std::to_string(round) + " tag " + std::to_string(i));
    for (const InstanceName& each : world.instances(Point)) {
      if (each.instance != kOverflowInstance) {
        ASSERT_EQ(each.instance, ++last);
      }
    }
    world.engine.reset(world.now);
    while (world.engine.take_discarded() != nullptr) continue;
  }
  EXPECT_LE(heap_bytes(), before + 4096);
  EXPECT_EQ(world.engine.counters().overflowed, kRounds * 2u);
  EXPECT_EQ(last, static_cast<std::int32_t>(kRounds * kTags));
  EXPECT_LE(world.known().size(), 2 * kTags);
}

TEST(EngineReset, TakesNumbersFirstFromWhoIsAbsentForLongest) {
  World world({.max_tags = 2}, {{Point, "old", 1, 7}, {Point, "recent", 2, 0}});
  const auto life = [&](std::initializer_list<const char*> tags) {
    for (const char* tag : tags) world.value(Point, tag);
    const std::vector<std::string> shown = world.shown(Point);
    world.engine.reset(world.now);
    return shown;
  };
  EXPECT_EQ(life({"a", "b", "without a number"}),
            (std::vector<std::string>{"3 a", "4 b", "0 (overflow)"}));
  EXPECT_EQ(life({"c", "recent"}), (std::vector<std::string>{"5 c", "2 recent"}));
  EXPECT_EQ(life({"d", "b"}), (std::vector<std::string>{"6 d", "4 b"}));
  EXPECT_EQ(life({"old", "recent"}), (std::vector<std::string>{"7 old", "2 recent"}));
  // A word that nobody has any longer is shown without a number behind it.
  EXPECT_EQ(life({"read a"}), (std::vector<std::string>{"8 read a"}));
  for (const char* tag : {"x", "y", "z"}) life({tag, "recent"});
  EXPECT_EQ(life({"read b"}), (std::vector<std::string>{"12 read b"}));
}

TEST(EngineLimits, AHundredThousandTagsAndOneMore) {
  World world;
  for (int i = 0; i <= 100'000; ++i) {
    world.value(kTraceTypes[static_cast<std::size_t>(i % 4)], "tag" + std::to_string(i), i);
  }
  EXPECT_EQ(world.engine.counters().tags, 100'000u);
  EXPECT_EQ(world.engine.counters().overflowed, 1u);
  world.at(5s);
  world.rotate();
  std::size_t instances = 0;
  for (const TraceType type : kTraceTypes) {
    for (const TagValues& values : world.snapshot(type)) {
      EXPECT_TRUE(values.in_window);
      ++instances;
    }
  }
  EXPECT_EQ(instances, 100'001u);
  EXPECT_EQ(world.find(Transact, "(overflow)")->total.last, 100'000.0);
}

TEST(EngineLimits, ATagWithTwelveFullBucketsTakesAKilobyte) {
  World world({.max_tags = 10'000});
  std::vector<TagIndex> tags;
  const std::size_t before = heap_bytes();
  for (int i = 0; i < 10'000; ++i) {
    tags.push_back(world.engine.tag(Point, "tag" + std::to_string(i)));
  }
  for (int interval = 0; interval <= 12; ++interval) {
    world.at(interval * 5s);
    for (const TagIndex tag : tags) world.engine.apply_value(tag, 1, world.now);
  }
  EXPECT_LE(heap_bytes(), before + 10'000 * 1024);
}

TEST(EngineLimits, AWindowOfManyBucketsCostsOnlyWhatIsInThem) {
  EngineOptions options;
  options.period = 72h;
  options.buckets = 100'000;
  const std::size_t before = heap_bytes();
  World world(options);
  const std::size_t empty = heap_bytes();
  for (int i = 0; i < 1000; ++i) world.value(Observe, "tag" + std::to_string(i), i);
  world.at(10s);
  world.rotate();
  EXPECT_LE(heap_bytes(), empty + 2'000'000);
  EXPECT_LE(empty, before + 20'000'000);
}

TEST(EngineLimits, GivesMemoryBackOnResetInSlices) {
  World world({.max_tags = 1000});
  for (int i = 0; i < 1000; ++i) world.value(Point, "tag" + std::to_string(i));
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 1000; ++i) {
      world.batch(Transact, "tag" + std::to_string(i % 500), {1.0 * i, 2, 3e9});
    }
    const std::size_t full = heap_bytes();
    world.engine.reset(world.now);
    EXPECT_EQ(world.engine.counters().tags, 0u);
    EXPECT_EQ(world.engine.counters().histogram_bytes, 0u);
    EXPECT_EQ(world.engine.next_rotation(world.now), world.now);
    EXPECT_EQ(heap_bytes(), full);
    int slices = 0;
    for (; world.engine.take_discarded() != nullptr; ++slices) continue;
    EXPECT_GE(slices, 500 / 64);
    EXPECT_GT(world.engine.next_rotation(world.now), world.now);
    EXPECT_LE(heap_bytes(), full - std::min<std::size_t>(full, 500 * 200));
  }
}

TEST(EngineLimits, ResetsThatNobodyFreesAfterDoNotGrow) {
  World world({.max_tags = 200});
  std::size_t most = 0;
  for (int reset = 0; reset < 100; ++reset) {
    for (int i = 0; i < 200; ++i) world.value(Point, "tag" + std::to_string(i));
    if (reset < 10) most = std::max(most, heap_bytes());
    EXPECT_LE(heap_bytes(), most) << reset;
    world.engine.reset(world.now);
  }
}

TEST(EngineLimits, EightHoursOfRotationsDoNotGrow) {
  World world;
  const auto minute = [&](int number) {
    for (int second = 0; second < 60; ++second) {
      world.at(number * 1min + second * 1s);
      world.value(Transact, "steady", 0.001 * (second + 1));
      world.value(Counter, "counter", second);
      if (number % 7 == 0) world.batch(Observe, "sometimes", {1.0 * second, -1, 0});
      world.engine.rotate(world.now, 10);
    }
  };
  for (int i = 0; i < 14; ++i) minute(i);
  const std::size_t heap = heap_bytes();
  const auto histograms = world.engine.counters().histogram_bytes;
  for (int i = 14; i < 8 * 60 + 14; ++i) minute(i);
  EXPECT_LE(heap_bytes(), heap + 1024);
  EXPECT_LE(world.engine.counters().histogram_bytes, histograms + 1024);
  EXPECT_EQ(world.find(Transact, "steady")->total.count, (8 * 60 + 14) * 60u);
}

// Fills many histograms over many powers of two.
struct EngineHistogramLimit : testing::Test {
  static constexpr std::size_t kMaxBytes = 256 * 1024;
  static EngineOptions options(std::size_t bytes) { return {.max_histogram_bytes = bytes}; }

  void fill(World& world, int tags, int intervals) {
    for (int interval = 0; interval < intervals; ++interval, time += 5s) {
      world.at(time);
      for (int tag = 0; tag < tags; ++tag) {
        std::vector<double> values;
        for (int i = 1; i <= 200; ++i) values.push_back(i * (tag + 1));
        world.batch(Transact, "tag" + std::to_string(tag), values);
        most = std::max<std::size_t>(most, world.engine.counters().histogram_bytes);
      }
      world.rotate();
    }
    world.at(time);
  }

  Duration time{};
  std::size_t most = 0;
};

TEST_F(EngineHistogramLimit, IsKeptByCoarseningAndCounted) {
  World world(options(kMaxBytes));
  fill(world, 100, 30);
  EXPECT_LE(most, kMaxBytes + 16 * 1024);
  EXPECT_GE(world.engine.counters().coarsenings, 1u);
  EXPECT_LT(world.engine.counters().coarsenings, 5u);
  for (int tag = 0; tag < 100; ++tag) {
    const auto values = world.find(Transact, "tag" + std::to_string(tag));
    ASSERT_TRUE(values->has_quantiles);
    EXPECT_NEAR(values->quantiles[0], 100 * (tag + 1), 26 * (tag + 1));
    EXPECT_GT(values->quantile_error, 0.02);
    EXPECT_EQ(values->window.count, 12 * 200u);
  }
}

TEST_F(EngineHistogramLimit, CountsTheValuesThatFindNoRoomAtAll) {
  World world(options(4096));
  fill(world, 100, 8);
  EXPECT_LE(most, 4096u + 16 * 1024);
  EXPECT_EQ(world.engine.counters().coarsenings, Histogram::kMaxCoarseness);
  std::uint64_t unbinned = 0;
  for (const TagValues& values : world.snapshot(Transact)) {
    EXPECT_EQ(values.total.count, 1600u);
    unbinned += values.total.unbinned;
  }
  EXPECT_GT(unbinned, 0u);
  EXPECT_LT(unbinned, 100 * 1600u);
  world.value(Observe, "x", 1);
}

// The heap that histograms take while many tags with values all over the range keep coming.
struct HistogramHeap {
  std::size_t most = 0;
  std::size_t at_end = 0;
  std::size_t counted = 0;  // by the engine, at the end
};

HistogramHeap heap_of_histograms(std::size_t bound, int tags) {
  constexpr int kIntervals = 14;
  const auto run = [tags](std::size_t max_bytes, std::vector<std::size_t>& heap) {
    const std::size_t before = heap_bytes();
    World world(EngineHistogramLimit::options(max_bytes));
    for (int interval = 0; interval < kIntervals; ++interval) {
      world.at(interval * 5s);
      for (int tag = 0; tag < tags; ++tag) {
        std::vector<double> values;
        for (int i = 0; i < 30; ++i) values.push_back(std::ldexp(1 + 0.033 * i, (i + tag) % 9));
        world.batch(Transact, "tag" + std::to_string(tag), values);
      }
      heap.push_back(heap_bytes() - before);
      world.rotate();
      heap.push_back(heap_bytes() - before);
    }
    return world.engine.counters().histogram_bytes;
  };
  std::vector<std::size_t> without, with;
  run(0, without);
  HistogramHeap histograms;
  histograms.counted = run(bound, with);
  for (std::size_t i = 0; i < with.size(); ++i) {
    histograms.at_end = with[i] - std::min(with[i], without[i]);
    histograms.most = std::max(histograms.most, histograms.at_end);
  }
  return histograms;
}

TEST_F(EngineHistogramLimit, IsWhatTheyReallyTake) {
  constexpr std::size_t kBound = 1u << 20;
  constexpr double kScratch = 32 * 1024;  // temporary memory of the pool
  for (const int tags : {250, 2000}) {
    const HistogramHeap heap = heap_of_histograms(kBound, tags);
    EXPECT_LE(heap.most, kBound + kBound / 16) << tags;
    EXPECT_LE(heap.counted, kBound + 1024) << tags;  // plus the last piece that found room
    if (heap.most == 0) continue;                    // a sanitizer has a heap of its own
    const auto counted = static_cast<double>(heap.counted);
    EXPECT_NEAR(static_cast<double>(heap.at_end), counted, counted / 10 + kScratch) << tags;
  }
}

TEST_F(EngineHistogramLimit, IsNotHitForeverOnceThereIsRoomAgain) {
  World world(options(kMaxBytes));
  fill(world, 100, 15);
  time += 5min;
  fill(world, 1, 14);
  const auto values = world.find(Transact, "tag0");
  EXPECT_NEAR(values->quantiles[1], 180, 180 * 0.02);
}

TEST_F(EngineHistogramLimit, ABoundOfZeroLeavesAllButThePercentiles) {
  World world(options(0));
  fill(world, 2, 3);
  const auto values = world.find(Transact, "tag1");
  EXPECT_FALSE(values->has_quantiles);
  EXPECT_EQ(values->window.count, 600u);
  EXPECT_EQ(values->total.unbinned, 600u);
}

}  // namespace
}  // namespace pcp::trace::agent
