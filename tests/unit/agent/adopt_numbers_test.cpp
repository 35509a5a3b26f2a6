// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/adopt_numbers.hpp"

#include <algorithm>
#include <tuple>

#include <gtest/gtest.h>

namespace pcp::trace::agent {
namespace {

using Row = std::tuple<TraceType, std::string, std::int32_t>;

std::vector<Row> merged(std::vector<KnownInstance> running, std::vector<KnownInstance> filed) {
  std::vector<Row> rows;
  for (const KnownInstance& known : merge_numbers(std::move(running), std::move(filed)))
    rows.emplace_back(known.type, known.tag, known.instance);
  std::sort(rows.begin(), rows.end());
  return rows;
}

constexpr auto kPoint = TraceType::Point;

TEST(AdoptedNumbers, LeaveAloneWhatDoesNotContradict) {
  EXPECT_EQ(merged({{kPoint, "a", 1, 0}}, {{kPoint, "b", 2, 3}, {TraceType::Observe, "a", 1, 0}}),
            (std::vector<Row>{{kPoint, "a", 1}, {kPoint, "b", 2}, {TraceType::Observe, "a", 1}}));
}

TEST(AdoptedNumbers, TakeTheirPlaceFromOtherTagsAndBeatThoseOfTheSameTag) {
  EXPECT_EQ(merged({{kPoint, "a", 1, 0}}, {{kPoint, "b", 1, 0}}),
            (std::vector<Row>{{kPoint, "a", 1}}));
  EXPECT_EQ(merged({{kPoint, "a", 1, 0}}, {{kPoint, "a", 7, 0}, {kPoint, "b", 2, 0}}),
            (std::vector<Row>{{kPoint, "a", 1}, {kPoint, "b", 2}}));
}

}  // namespace
}  // namespace pcp::trace::agent
