// SPDX-License-Identifier: LGPL-2.1-or-later
// Random traffic, compared with a model that keeps every value and computes the right results.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "fixture.hpp"

namespace pcp::trace::agent {
namespace {

struct Model {
  struct Value {
    Instant time;
    double value;
  };

  Instant begin_of(std::int64_t interval) const {
    return start + Duration{(interval * period.count() + buckets - 1) / buckets};
  }

  // The window's values at this time, in order of size.
  std::vector<double> window(const std::string& tag, Instant now) const {
    std::int64_t current = 0;
    while (begin_of(current + 1) <= now) ++current;
    const Instant from = current < buckets ? start : begin_of(current - buckets);
    std::vector<double> values;
    for (const Value& each : tags.at(tag)) {
      if (each.time >= from && each.time < begin_of(current)) values.push_back(each.value);
    }
    std::sort(values.begin(), values.end());
    return values;
  }

  Duration period;
  std::int64_t buckets;
  Instant start;
  std::map<std::string, std::vector<Value>> tags{};
};

void expect_same(const TagValues& actual, const Model& model, const std::string& tag, Instant now) {
  const auto& all = model.tags.at(tag);
  EXPECT_EQ(actual.total.count, all.size());
  EXPECT_EQ(actual.total.last, all.back().value);
  const std::vector<double> window = model.window(tag, now);
  ASSERT_EQ(actual.in_window, !window.empty());
  EXPECT_EQ(actual.has_quantiles, !window.empty());
  if (window.empty()) return;
  EXPECT_EQ(actual.window.count, window.size());
  EXPECT_EQ(actual.window.min, window.front());
  EXPECT_EQ(actual.window.max, window.back());
  double sum = 0;
  double magnitude = 0;
  for (const double value : window) sum += value, magnitude += std::abs(value);
  EXPECT_NEAR(actual.window.sum, sum, 1e-9 * magnitude);
  for (std::size_t i = 0; i < kQuantiles.size(); ++i) {
    const double rank = std::ceil(kQuantiles[i] * static_cast<double>(window.size()));
    const double exact = window[static_cast<std::size_t>(rank) - 1];
    EXPECT_NEAR(actual.quantiles[i], exact, 0.02 * std::abs(exact));
  }
}

class EngineModel : public testing::TestWithParam<unsigned> {};

TEST_P(EngineModel, AgreesWithTheEngineWhateverHappens) {
  std::mt19937_64 random(GetParam());
  const auto pick = [&](std::uint64_t choices) { return random() % choices; };
  EngineOptions options;
  options.period = Duration{1 + static_cast<std::int64_t>(pick(20'000'000'000))};
  options.buckets = 1 + static_cast<std::uint32_t>(pick(20));
  World world(options);
  Model model{options.period, options.buckets, World::kStart};
  std::lognormal_distribution<double> size(0, 3);

  for (int step = 0; step < 3000; ++step) {
    const auto bucket = static_cast<std::uint64_t>(options.period.count()) / options.buckets + 1;
    world.now +=
        Duration{static_cast<std::int64_t>(pick(pick(50) == 0 ? 10 * bucket : bucket / 10 + 1))};
    const std::string tag = "tag" + std::to_string(pick(5));
    const double sign = pick(4) == 0 ? -1 : 1;
    switch (pick(8)) {
      case 0:
        world.engine.rotate(world.now, pick(3));
        world.engine.take_discarded();
        break;
      case 1:
        if (model.tags.contains(tag)) {
          expect_same(*world.find(Observe, tag), model, tag, world.now);
        }
        break;
      case 2: {
        std::vector<double> values;
        for (std::uint64_t i = 0; i <= pick(20); ++i) values.push_back(sign * size(random));
        for (const double value : values) model.tags[tag].push_back({world.now, value});
        world.batch(Observe, tag, values);
        break;
      }
      case 3:
        if (pick(500) > 0) break;
        world.engine.reset(world.now);
        model.tags.clear();
        model.start = world.now;
        break;
      default: {
        const double value = sign * size(random);
        model.tags[tag].push_back({world.now, value});
        world.value(Observe, tag, value);
      }
    }
    if (HasFailure()) FAIL() << "at step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, EngineModel, testing::Range(1u, 26u));

bool same(const TagValues& a, const TagValues& b) {
  const auto numbers = [](const auto& d) {
    return std::vector<double>{static_cast<double>(d.count), d.sum, d.min, d.max};
  };
  return a.instance == b.instance && numbers(a.total) == numbers(b.total) &&
         a.total.last == b.total.last && a.in_window == b.in_window &&
         numbers(a.window) == numbers(b.window) && a.has_quantiles == b.has_quantiles &&
         (!a.has_quantiles || a.quantiles == b.quantiles);
}

TEST(EngineSlices, OfRotateAndSnapshotGiveWhatDoingItAtOnceGives) {
  std::mt19937 random(7);
  World at_once;
  World sliced;
  World never;
  for (int step = 0; step < 5000; ++step) {
    const Duration time = step * 100ms;
    const std::string tag = "tag" + std::to_string(random() % (step < 2500 ? 50 : 5));
    const auto value = static_cast<double>(random() % 1000);
    for (World* world : {&at_once, &sliced, &never}) {
      world->at(time);
      if (step < 2000 || step > 3000) world->value(Transact, tag, value);
    }
    while (at_once.engine.rotate(at_once.now, kAll)) continue;
    sliced.engine.rotate(sliced.now, 3);
    if (random() % 20 > 0) continue;
    const auto whole = at_once.snapshot(Transact);
    std::vector<TagValues> pieces;
    while (sliced.engine.snapshot(Transact, pieces.size(), 7, sliced.now, pieces) == 7) {
      sliced.engine.rotate(sliced.now, 1);
    }
    const auto lazily = never.snapshot(Transact);
    ASSERT_EQ(pieces.size(), whole.size());
    ASSERT_EQ(lazily.size(), whole.size());
    for (std::size_t i = 0; i < whole.size(); ++i) {
      ASSERT_TRUE(same(whole[i], pieces[i])) << step;
      ASSERT_TRUE(same(whole[i], lazily[i])) << step;
    }
  }
}

}  // namespace
}  // namespace pcp::trace::agent
