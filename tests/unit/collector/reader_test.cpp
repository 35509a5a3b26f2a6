// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/reader.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "collector/shared.hpp"

namespace pcp::trace::agent {
namespace {

using namespace std::chrono_literals;

constexpr Instant kStart{1h};
constexpr WallTime kWall{400'000h};

// Intervals of two seconds.
class ReaderTest : public testing::Test {
 protected:
  void apply(TraceType type, const std::string& tag, double value) {
    const Lock lock(shared_.mutex);
    shared_.engine.apply_value(shared_.engine.tag(type, tag), value, now_);
  }

  Instant now_ = kStart;
  Shared shared_{{.period = 10s, .buckets = 5}, {}, now_, kWall};
  Reader reader_{shared_};
};

TEST_F(ReaderTest, GivesWhatIsKeptSinceATimeOfTheWallClock) {
  const auto all = [](std::int32_t) { return true; };
  const auto nobody = [](CumulativeSample&&) { FAIL() << "none is kept"; };
  for (int i = 1; i <= 1000; ++i) apply(TraceType::Observe, "tag" + std::to_string(i), i);
  reader_.cumulative(TraceType::Observe, Outcome::Completed, now_, all, nobody);
  now_ += 1s;
  reader_.begin_cumulative(now_);
  now_ += 1s;
  std::int32_t expected = 0;
  const auto odd = [](std::int32_t instance) { return instance % 2 == 1; };
  reader_.cumulative(TraceType::Observe, Outcome::Completed, now_, odd,
                     [&](CumulativeSample&& sample) {
                       EXPECT_EQ(sample.instance, std::exchange(expected, expected + 2) + 1);
                       EXPECT_EQ(reader_.wall_time(sample.since), kWall + 1s);
                       EXPECT_EQ(sample.count, 1u);
                     });
  EXPECT_EQ(expected, 1000);
}

}  // namespace
}  // namespace pcp::trace::agent
