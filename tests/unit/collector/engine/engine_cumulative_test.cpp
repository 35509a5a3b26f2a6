// SPDX-License-Identifier: LGPL-2.1-or-later
// Distributions of all values since a fixed time.
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "collector/engine/cumulative_histogram.hpp"
#include "fixture.hpp"

namespace pcp::trace::agent {
namespace {

// Intervals of two seconds.
struct EngineCumulative : testing::Test {
  void begin_at(Duration time) {
    world.at(time);
    world.engine.begin_cumulative(world.now);
  }

  void value_at(Duration time, double value) {
    world.at(time);
    world.value(Observe, "x", value);
  }

  // The sample of the only tag.
  CumulativeSample sample_at(Duration time) {
    world.at(time);
    const auto samples = world.cumulative(Observe);
    EXPECT_EQ(samples.size(), 1u);
    return samples.empty() ? CumulativeSample{} : samples.front();
  }

  void expect_at(Duration time, Duration since, const std::vector<double>& values) {
    const CumulativeSample sample = sample_at(time);
    EXPECT_EQ(sample.since, World::kStart + since);
    EXPECT_EQ(sample.count, values.size());
    EXPECT_EQ(sample.unbinned, 0u);
    EXPECT_EQ(sample.packed, packed(values));
    EXPECT_FALSE(sample.left_out);
  }

  World world{kTwoSeconds};
};

TEST_F(EngineCumulative, IsNotThereBeforeItBegins) {
  for (int i = 0; i < 10; ++i) value_at(i * 1s, i);
  EXPECT_EQ(world.cumulative(Observe).size(), 0u);
  EXPECT_EQ(world.engine.counters().cumulative_bytes, 0u);
}

TEST_F(EngineCumulative, BeginsWithTheIntervalThatIsRunning) {
  value_at(1s, 1);
  value_at(3s, 2);
  begin_at(3500ms);
  expect_at(3500ms, 3500ms, {});
  value_at(3900ms, 3);
  expect_at(3999ms, 3500ms, {});
  expect_at(4s, 3500ms, {2, 3});
  begin_at(4s);  // once only
  value_at(5s, 4);
  expect_at(1h, 3500ms, {2, 3, 4});
}

// The thread that begins it read the clock, and then had to wait for the mutex.
TEST_F(EngineCumulative, IsSinceNoTimeBeforeItsFirstInterval) {
  value_at(2100ms, 1);
  begin_at(1900ms);
  expect_at(4s, 2s, {1});
}

// No snapshot or rotation has come to this tag in the meantime.
TEST_F(EngineCumulative, LeavesOutAnIntervalThatHadEndedThen) {
  value_at(1s, 1);
  begin_at(2s);
  expect_at(10s, 2s, {});
  EXPECT_EQ(world.engine.counters().cumulative_bytes, 0u);
  value_at(11s, 2);
  expect_at(12s, 2s, {2});
}

TEST_F(EngineCumulative, OfATagThatComesLaterIsSinceItsStart) {
  begin_at(1s);
  value_at(7s, 1);
  expect_at(7s, 7s, {});
  value_at(7500ms, 2);
  expect_at(8s, 7s, {1, 2});
}

TEST_F(EngineCumulative, GoesOnWhenTheWindowIsEmpty) {
  begin_at(0s);
  value_at(1s, 1);
  value_at(100s, 2);  // the first one's interval was never in a window
  expect_at(102s, 1s, {1, 2});
  expect_at(1h, 1s, {1, 2});
  EXPECT_EQ(world.in_window(Observe, "x"), 0u);
}

TEST_F(EngineCumulative, IsOfTransactionsAndObservations) {
  world.value(Point, "old", 1);
  begin_at(0s);
  for (const char* tag : {"old", "new"}) world.value(Point, tag, 1);
  world.at(2s);
  EXPECT_EQ(world.cumulative(Point).size(), 2u);
  EXPECT_EQ(world.engine.counters().cumulative_bytes, 0u);
  for (const TraceType type : {Transact, Observe, Counter}) world.value(type, "x", 1);
  world.at(4s);
  for (const TraceType type : {Transact, Observe, Counter}) {
    const auto samples = world.cumulative(type);
    ASSERT_EQ(samples.size(), 1u);
    EXPECT_EQ(samples.front().count, has_histogram(type) ? 1u : 0u);
  }
}

TEST_F(EngineCumulative, HasLateValuesAtOnceAndOnceAndThoseOfThePresentIntervalLater) {
  value_at(1s, 1);
  begin_at(11s);
  std::vector<double> values{1, 2, 3, 4, 5, 6, 7, 8};
  world.batch(Observe, "x", values, age(8s, 3s));  // completely in completed intervals
  expect_at(11s, 11s, values);
  world.batch(Observe, "x", values, age(8s, 0s));
  EXPECT_EQ(sample_at(11s).count, 8u + 7u);
  values.insert(values.end(), values.begin(), values.begin() + 8);
  expect_at(12s, 11s, values);
  expect_at(1h, 11s, values);
}

TEST_F(EngineCumulative, IsForgottenByAReset) {
  begin_at(21s);
  value_at(21s, 1);
  expect_at(22s, 21s, {1});
  world.at(27s);
  world.engine.reset(world.now);
  EXPECT_EQ(world.engine.counters().cumulative_bytes, 0u);
  EXPECT_EQ(world.cumulative(Observe).size(), 0u);
  value_at(27500ms, 5);
  expect_at(29s, 27500ms, {5});
}

TEST_F(EngineCumulative, IsAsCoarseAsTheCoarsestThatIsInIt) {
  begin_at(0s);
  Delta delta;
  delta.add(1);
  Histogram coarse;
  coarse.add(1);
  coarse.coarsen_to(2);
  world.engine.apply(world.engine.tag(Observe, "x"), delta, packed(coarse), {}, world.now);
  value_at(3s, 1);
  const CumulativeSample sample = sample_at(4s);
  EXPECT_EQ(sample.packed.front(), 2);
  EXPECT_EQ(sample.count, 2u);
}

TEST_F(EngineCumulative, IsCopiedInSlicesOfThoseThatAreWanted) {
  begin_at(0s);
  for (int i = 1; i <= 100; ++i) world.value(Observe, "tag" + std::to_string(i), i);
  world.at(2s);
  std::vector<CumulativeSample> samples;
  const auto wanted = [](std::int32_t instance) { return instance % 3 == 0; };
  std::size_t at = 0;
  for (std::size_t more = 1; more > 0; at += more) {
    more = world.engine.cumulative(Observe, Outcome::Completed, at, 7, world.now, wanted, samples);
    ASSERT_LE(more, 7u);
  }
  EXPECT_EQ(at, 100u);
  ASSERT_EQ(samples.size(), 33u);
  for (const CumulativeSample& each : samples) {
    EXPECT_EQ(each.packed, packed({static_cast<double>(each.instance)}));
  }
}

// Values that arrive one by one, or in a batch that may be late or thinned by the client.
struct Arrival {
  std::vector<double> values;
  std::size_t thinned = 0;
  wire::BatchAge age;
  bool alone = false;
};

Arrival random_arrival(std::mt19937& random, Duration oldest) {
  std::lognormal_distribution<double> distribution(0, 2);
  Arrival arrival;
  arrival.alone = random() % 2 == 0;
  const std::size_t count = arrival.alone ? 1 : random() % 30;
  for (std::size_t i = 0; i < count; ++i) {
    arrival.values.push_back(distribution(random));
    if (random() % 50 == 0) arrival.values.back() = std::numeric_limits<double>::infinity();
  }
  if (arrival.alone) return arrival;
  arrival.thinned = random() % 3 == 0 ? random() % 4 : 0;
  const auto within = [&random](Duration most) {
    return Duration{static_cast<std::int64_t>(random() % 1000) * most.count() / 1000};
  };
  const Duration first = within(oldest);
  if (random() % 2 == 0) arrival.age = age(first, within(first + 1ns));
  return arrival;
}

// All values that have arrived, in a histogram of the test.
struct Arrived {
  Histogram binned;
  std::uint64_t finite = 0;

  void arrive(World& world, const Arrival& arrival) {
    Delta delta;
    Histogram histogram;
    for (const double value : arrival.values) {
      if (!delta.add(value)) continue;
      ++finite;
      if (delta.unbinned < arrival.thinned)
        ++delta.unbinned;
      else
        histogram.add(value);
    }
    binned.merge(histogram);
    const TagIndex tag = world.engine.tag(Observe, "x");
    if (arrival.alone) {
      world.engine.apply_value(tag, arrival.values.front(), world.now);
      return;
    }
    world.engine.apply(tag, delta, packed(histogram), arrival.age, world.now);
  }
};

CumulativeHistogram histogram_of(const CumulativeSample& sample) {
  CumulativeHistogram parsed{1, sample.unbinned, {}};
  EXPECT_TRUE(parsed.histogram.merge_packed(sample.packed));
  EXPECT_EQ(parsed.histogram.total(), sample.count);
  return parsed;
}

// Each sample contains the one before: no difference of two is negative.
void expect_between(const CumulativeSample& newer, const CumulativeSample& older) {
  const CumulativeHistogram between = subtract(histogram_of(newer), histogram_of(older));
  ASSERT_EQ(between.histogram.total(), newer.count - older.count);
  ASSERT_EQ(between.unbinned, newer.unbinned - older.unbinned);
}

void expect_exact(std::uint32_t seed, Duration oldest) {
  std::mt19937 random(seed);
  World world(kTwoSeconds);
  Arrived arrived;
  CumulativeSample before;
  for (int step = 0; step < 1000; ++step) {
    if (step * 170ms > 4s && world.now < World::kStart + 4s) {  // an interval begins
      world.at(4s);
      world.engine.begin_cumulative(world.now);
      arrived = {};
    }
    world.at(step * 170ms);
    if (step % 200 < 150) arrived.arrive(world, random_arrival(random, oldest));
    if (random() % 3 == 0) world.engine.rotate(world.now, kAll);
    if (step < 30 || random() % 4 != 0) continue;
    const auto samples = world.cumulative(Observe);
    ASSERT_EQ(samples.size(), 1u);
    expect_between(samples.front(), before);
    before = samples.front();
    if (step % 200 < 170) continue;
    ASSERT_EQ(before.count + before.unbinned, arrived.finite) << seed << ' ' << step;
    ASSERT_EQ(before.packed, packed(arrived.binned));
  }
}

TEST(EngineCumulativeExactness, IsThatOfAllValuesHoweverTheyArriveAndHoweverOldTheyAre) {
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    expect_exact(seed, 7s);
    expect_exact(seed, 60s);
  }
}

}  // namespace
}  // namespace pcp::trace::agent
