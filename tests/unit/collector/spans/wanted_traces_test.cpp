// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/spans/wanted_traces.hpp"

#include <gtest/gtest.h>

namespace pcp::trace::agent {
namespace {

TEST(WantedTraces, BitsStayKnownUntilTheirOwnOneGoes) {
  WantedTraces wanted;
  wanted.add({{7, 1}, 5});
  wanted.add({{7, 3}, 5});  // only the second bit is news
  EXPECT_EQ(wanted.end(), 2u);
  for (std::uint64_t hash = 100; wanted.end() < WantedTraces::kMost + 1; ++hash)
    wanted.add({{hash, 1}, 5});  // the first one goes
  ASSERT_EQ(wanted.of(7).size(), 1u);
  EXPECT_EQ(wanted.of(7)[0].trace, (wire::WantedTrace{7, 2}));
  wanted.add({{7, 2}, 5});
  EXPECT_EQ(wanted.end(), WantedTraces::kMost + 1);
  EXPECT_TRUE(wanted.of(8).empty());
}

}  // namespace
}  // namespace pcp::trace::agent
