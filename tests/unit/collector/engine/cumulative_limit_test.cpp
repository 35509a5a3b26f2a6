// SPDX-License-Identifier: LGPL-2.1-or-later
// The memory limit of cumulative histograms, and histograms for which there is no room.
#include <gtest/gtest.h>

#include "collector/engine/cumulative_histogram.hpp"
#include "fixture.hpp"
#include "wire/histogram_codec.hpp"

namespace pcp::trace::agent {
namespace {

// Intervals of two seconds.
struct CumulativeLimit : testing::Test {
  static EngineOptions options(std::size_t max_bytes) {
    return {.period = 10s, .buckets = 5, .max_cumulative_bytes = max_bytes};
  }

  struct Begun : World {
    explicit Begun(std::size_t max_bytes = 64 << 20) : World(options(max_bytes)) {
      engine.begin_cumulative(now);
    }
  };

  // Sends `each` values in each of so many bins from 1.0 on, `apart` bins apart, and the negatives.
  static void send(World& world, const std::string& tag, int bins, int apart, std::uint64_t each,
                   const wire::BatchAge& age = {}) {
    Histogram histogram;
    const std::int32_t from = std::int32_t{0x3ff} << 5;
    for (int i = 0; i < bins; ++i) {
      histogram.add_bin(from + i * apart, 0, each);
      histogram.add_bin(~(from + i * apart), 0, each);
    }
    Delta delta;
    delta.count = histogram.total();
    delta.min = -1;
    delta.max = 1;
    world.engine.apply(world.engine.tag(Observe, tag), delta, packed(histogram), age, world.now);
  }

  static std::size_t left_out(World& world) {
    std::size_t count = 0;
    for (const CumulativeSample& each : world.cumulative(Observe)) count += each.left_out ? 1 : 0;
    return count;
  }

  static std::uint64_t unbinned(World& world) {
    std::uint64_t count = 0;
    for (const CumulativeSample& each : world.cumulative(Observe)) count += each.unbinned;
    return count;
  }

  static void expect_counted(World& world, std::uint64_t finite) {
    for (const CumulativeSample& each : world.cumulative(Observe)) {
      ASSERT_EQ(each.count + each.unbinned, finite) << each.instance;
      std::uint64_t total = 0;
      ASSERT_TRUE(Histogram::read_packed_total(each.packed, total));
      ASSERT_EQ(total, each.count);
    }
  }

  static void expect_windows_as_ever(World& world) {
    EXPECT_EQ(world.engine.counters().coarsenings, 0u);
    for (const TagValues& each : world.snapshot(Observe))
      ASSERT_TRUE(!each.has_quantiles || each.quantile_error == 1 / 64.0);
  }
};

TEST_F(CumulativeLimit, ATagIsCoarsenedToFourKiB) {
  Begun world;
  send(world, "x", 1100, 3, 1);
  world.at(2s);
  const CumulativeSample sample = world.cumulative(Observe).front();
  EXPECT_EQ(sample.count, 2200u);
  EXPECT_LE(sample.packed.size(), CumulativeHistogram::kMaxPackedBytes);
  EXPECT_EQ(packed_coarseness(sample.packed), 1u);
  expect_windows_as_ever(world);
}

TEST_F(CumulativeLimit, ATagOfWhichEvenTheCoarsestBinsTakeMoreIsLeftOut) {
  Begun world;
  world.value(Observe, "other", 1);
  send(world, "x", 500, 1, 1);
  world.at(2s);
  EXPECT_EQ(left_out(world), 0u);
  send(world, "x", 1020, 32, 64);
  send(world, "x", 1020, -32, 64);
  world.at(4s);
  EXPECT_EQ(left_out(world), 1u);
  EXPECT_TRUE(world.cumulative(Observe).back().left_out);
  const std::uint64_t bytes = world.engine.counters().cumulative_bytes;
  EXPECT_LT(bytes, 500u);
  world.value(Observe, "x", 1);
  world.at(100s);
  EXPECT_EQ(left_out(world), 1u);
  EXPECT_EQ(world.engine.counters().cumulative_bytes, bytes);
  world.engine.reset(world.now);
  world.value(Observe, "x", 1);
  EXPECT_EQ(left_out(world), 0u);
}

TEST_F(CumulativeLimit, AllAreCoarsenedBeforeAnyIsLeftOut) {
  constexpr std::size_t kMaxBytes = 400'000;
  Begun world(kMaxBytes);
  for (int interval = 0; interval < 10; ++interval) {
    world.at(interval * 2s + 1s);
    for (int i = interval * 100; i < (interval + 1) * 100; ++i)
      send(world, "tag" + std::to_string(i), 200, 2, 1);  // some 1.2 KB
    world.at(interval * 2s + 2s);
    ASSERT_EQ(left_out(world), 0u);
    ASSERT_LT(world.engine.counters().cumulative_bytes, kMaxBytes);
  }
  expect_counted(world, 400);
  EXPECT_EQ(unbinned(world), 0u);
  const auto samples = world.cumulative(Observe);
  for (const CumulativeSample& each : samples)
    ASSERT_EQ(each.packed.front(), samples.front().packed.front());
  expect_windows_as_ever(world);
}

// The last tag comes before any tag begins its next interval.
TEST_F(CumulativeLimit, AllAreCoarsenedBeforeAnyIsLeftOutIfTheyComeAllAtOnceAndLate) {
  constexpr std::size_t kMaxBytes = 200'000;
  Begun world(kMaxBytes);
  world.at(9s);
  const wire::BatchAge late{6'000'000'000, 3'000'000'000};
  for (int i = 0; i < 500; ++i) world.value(Observe, "tag" + std::to_string(i), 1);
  for (int i = 0; i < 500; ++i) {
    send(world, "tag" + std::to_string(i), 200, 2, 1, late);
    ASSERT_LT(world.engine.counters().cumulative_bytes, kMaxBytes);
  }
  expect_counted(world, 400);
  EXPECT_EQ(unbinned(world), 0u);
}

// The first hundred tags have no bins to coarsen, so the big ones fill the pool meanwhile.
TEST_F(CumulativeLimit, WhereThereIsNoRoomForAMomentTagsHaveTheirsLater) {
  World world(options(20'000));
  for (int i = 0; i < 100; ++i) world.value(Observe, "idle" + std::to_string(i));
  world.at(2s);
  world.engine.begin_cumulative(world.now);
  for (int i = 0; i < 6; ++i) send(world, "big" + std::to_string(i), 800, 2, 1);
  world.value(Observe, "x", 1);
  world.at(4s);
  EXPECT_EQ(world.cumulative(Observe).back().unbinned, 1u);
  EXPECT_EQ(left_out(world), 0u);
  world.at(8s);
  world.value(Observe, "x", 1);
  world.at(10s);
  EXPECT_EQ(world.cumulative(Observe).back().count, 1u);
}

// Each tag has 40 bins of the coarsest resolution, of a byte or two at first.
TEST_F(CumulativeLimit, WhereThereIsNoRoomNewTagsHaveNone) {
  constexpr std::size_t kMaxBytes = 50'000;
  Begun world(kMaxBytes);
  for (int i = 0; i < 500; ++i) {
    world.at(i * 2s);
    send(world, "tag" + std::to_string(i), 20, 32, 1);
    world.rotate();
  }
  world.at(1000s);
  const std::size_t without = left_out(world);
  EXPECT_GT(without, 100u);
  EXPECT_LT(without, 400u);
  EXPECT_LT(world.engine.counters().cumulative_bytes, kMaxBytes + 500 * 100);
  const auto samples = world.cumulative(Observe);
  for (std::size_t i = 0; i < samples.size(); ++i)
    ASSERT_EQ(samples[i].left_out, i >= samples.size() - without) << i;
  expect_windows_as_ever(world);
}

TEST_F(CumulativeLimit, WhereThereIsNoRoomTheOthersGoOn) {
  Begun world(2'000);
  std::uint64_t finite = 0;
  for (int i = 10; i <= 400; i += 10) {
    world.at(i * 2s);
    send(world, "x", i, 32, 64);
    send(world, "y", i, 32, 64);
    finite += 2 * 64 * static_cast<std::uint64_t>(i);
  }
  world.at(1h);
  EXPECT_EQ(left_out(world), 0u);
  expect_counted(world, finite);
  EXPECT_GT(unbinned(world), 0u);
  EXPECT_LT(unbinned(world), 2 * finite);
  EXPECT_LT(world.engine.counters().cumulative_bytes, 3'000u);
}

}  // namespace
}  // namespace pcp::trace::agent
