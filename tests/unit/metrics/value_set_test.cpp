// SPDX-License-Identifier: LGPL-2.1-or-later
#include <thread>

#include <gtest/gtest.h>

#include "metrics/fetcher.hpp"
#include "unit/metrics/metrics_fixture.hpp"

namespace pcp::trace::agent {
namespace {

TEST(ValueSetTest, TakesNoMoreThanItHasRoomFor) {
  ValueSet set(1, PM_TYPE_32, 1);
  pmAtomValue value{};
  value.l = 5;
  set.add(7, value);
  value.l = 6;
  set.add(8, value);
  ASSERT_EQ(set.get()->numval, 1);
  EXPECT_EQ(set.get()->vlist[0].inst, 7);
  EXPECT_EQ(set.get()->vlist[0].value.lval, 5);
}

struct FetchOfManyTags : MetricsFixture {
  FetchOfManyTags() : MetricsFixture(20'000) {}
};

TEST_F(FetchOfManyTags, LooksAtAllHoweverManySlicesTheyTake) {
  for (int i = 0; i < 2000; ++i) apply(TraceType::Point, "tag" + std::to_string(i), -1);
  EXPECT_EQ(fetch("trace.point.count").size(), 2000);
}

// The address sanitizer sees a set that is written beyond its end.
TEST_F(FetchOfManyTags, GoesWellWhileTagsBegin) {
  std::thread program([this] {
    for (int tag = 0; tag < 20'000; ++tag) {
      const Lock lock(shared_.mutex);
      apply(TraceType::Observe, "tag" + std::to_string(tag), 1);
    }
  });
  const pmID histograms = pmid("tracing.histogram.observe");
  for (int seen = 0; seen < 20'000;) {
    seen = metrics_.fetch(&histograms, 1, nullptr, now_)->vset[0]->numval;
    metrics_.release();
  }
  program.join();
}

}  // namespace
}  // namespace pcp::trace::agent
