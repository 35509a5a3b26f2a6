// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/clock_difference.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace pcp::trace {
namespace {

// Readings of the steady clock, two for each try, and of a wall clock that is 5 s ahead.
TEST(Clock, InterruptionsDoNotChangeTheDifferenceOfTheClocks) {
  struct Case {
    std::vector<std::uint64_t> steady, wall;
  };
  for (const auto& [steady, wall] : std::vector<Case>{
           {{100, 140}, {5'000'000'120}},
           {{100, 90'000'100, 90'000'200, 90'000'240}, {5'000'000'101, 5'090'000'220}},
           {{0, 80'000, 100'000, 100'040}, {5'000'080'000, 5'000'100'020}},
           // No try is short, and the second one is the shortest.
           {{0, 90'000, 100'000, 120'000, 200'000, 280'000, 300'000, 390'000, 400'000, 480'000},
            {5'000'000'000, 5'000'110'000, 5'000'200'000, 5'000'300'000, 5'000'400'000}}}) {
    auto next_steady = steady.begin();
    auto next_wall = wall.begin();
    EXPECT_EQ(clock_difference([&] { return *next_steady++; }, [&] { return *next_wall++; }),
              std::chrono::seconds(5));
    EXPECT_EQ(next_wall, wall.end());
  }
}

}  // namespace
}  // namespace pcp::trace
