// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/number_keeper.hpp"

#include <sys/stat.h>

#include <filesystem>

#include "support/scarce_memory.hpp"
#include "support/scratch_directory.hpp"
#include "unit/metrics/metrics_fixture.hpp"

namespace pcp::trace::agent {
namespace {

std::vector<std::string> warnings;
Instant now;
Duration clock_step;  // time between two looks at the clock

class NumberKeeperTest : public MetricsFixture {
 protected:
  NumberKeeperTest() {
    warnings.clear();
    now = {};
    clock_step = {};
  }

  NumberKeeper keeper(const std::string& name = "10.trace") {
    return NumberKeeper(
        file(name), reader_, [](const std::string& line) { warnings.push_back(line); },
        [] { return now += clock_step; });
  }

  InstanceFile file(const std::string& name = "10.trace") const {
    return InstanceFile(directory_ + "/" + name);
  }

  void add(const std::string& tag) { apply(TraceType::Point, tag, -1); }

  void expect_that_nothing_is_saved() {
    std::filesystem::remove(directory_ + "/10.trace");
    keeper_.save_new();
    EXPECT_TRUE(std::filesystem::is_empty(directory_));
  }

  // Each of these tags gets a number, because of resets in between.
  void add_tags(int first, int last) {
    const int at_once = static_cast<int>(shared_.engine.options().max_tags);
    for (int i = first; i < last; ++i) {
      if (i % at_once == 0) shared_.engine.reset(now);
      add("tag" + std::to_string(i));
    }
  }

  const ScratchDirectory scratch_;
  const std::string directory_ = scratch_.path();
  NumberKeeper keeper_ = keeper();
};

TEST_F(NumberKeeperTest, WritesNothingAsLongAsThereIsNothingNew) {
  keeper_.save_new();
  expect_that_nothing_is_saved();
}

TEST_F(NumberKeeperTest, ReservesNumbersBeforeTheyAreGiven) {
  keeper_.save_new();
  EXPECT_EQ(file().load().reserved, (Numbers{1000, 1000, 1000, 1000}));
  add("a");
  keeper_.save_new();
  EXPECT_EQ(file().load().reserved, (Numbers{1000, 1001, 1000, 1000}));
}

TEST_F(NumberKeeperTest, LeavesNoneReservedAtTheEnd) {
  add("a");
  keeper_.save_new();
  add("b");
  keeper_.save_at_end();
  EXPECT_EQ(file().load().reserved, (Numbers{0, 2, 0, 0}));
}

TEST_F(NumberKeeperTest, DoesNotRestWhenTheReserveRunsOut) {
  clock_step = std::chrono::minutes(1);  // as with a slow disk: the keeper rests for five minutes
  keeper_.save_new();
  const auto add = [&](int first, int last) {
    add_tags(first, last);
    keeper_.save_new();
    return file().load().reserved[index_of(TraceType::Point)];
  };
  EXPECT_EQ(add(0, 500), 1000);
  EXPECT_EQ(add(500, 700), 1700);
  EXPECT_EQ(add(700, 2000), 4000);
}

TEST_F(NumberKeeperTest, KeepsTheNumbersOfAsManyTagsAsMayBeShown) {
  add_tags(0, 1000);
  keeper_.save_at_end();
  const auto known = file().load().instances;
  ASSERT_EQ(known.size(), shared_.engine.options().most_tags());
  EXPECT_EQ(known.back().tag, "tag999");
  EXPECT_EQ(known.back().instance, 1000);
}

TEST_F(NumberKeeperTest, SavesNewNumbersOnce) {
  add("a");
  keeper_.save_new();
  const auto known = file().load().instances;
  ASSERT_EQ(known.size(), 1);
  EXPECT_EQ(known[0].tag, "a");
  EXPECT_EQ(known[0].instance, 1);
  expect_that_nothing_is_saved();
  keeper_.save_at_end();
  EXPECT_EQ(file().load().instances.size(), 1);
}

TEST_F(NumberKeeperTest, WarnsOnceIfItCannotAndTriesAgainLater) {
  NumberKeeper keeper = this->keeper("missing/10.trace");
  add("a");
  const Instant again = keeper.save_new();
  EXPECT_GT(again, now);
  EXPECT_LT(again, kNever);
  now = again;
  EXPECT_GT(keeper.save_new(), now);
  ASSERT_EQ(warnings.size(), 1);
  EXPECT_NE(warnings[0].find("missing/10.trace"), std::string::npos);

  std::filesystem::create_directory(directory_ + "/missing");
  EXPECT_GT(keeper.save_new(), now);  // too early
  EXPECT_TRUE(std::filesystem::is_empty(directory_ + "/missing"));
  now = keeper.save_new();
  EXPECT_EQ(keeper.save_new(), kNever);
  EXPECT_EQ(file("missing/10.trace").load().instances.size(), 1);
  EXPECT_EQ(warnings.size(), 1);

  std::filesystem::remove_all(directory_ + "/missing");
  keeper.save_at_end();
  EXPECT_EQ(warnings.size(), 2);  // the fault is a new one
}

#ifdef TRACE_SCARCE_MEMORY
TEST_F(NumberKeeperTest, TriesAgainLaterIfThereIsNoMemory) {
  for (int i = 0; i < 100; ++i) add(std::to_string(i));
  {
    const ScarceMemory scarce(1000);
    now = keeper_.save_new();
  }
  ASSERT_LT(now, kNever);
  EXPECT_EQ(warnings.size(), 1);
  EXPECT_EQ(keeper_.save_new(), kNever);
  EXPECT_EQ(file().load().instances.size(), 100);
}
#endif

}  // namespace
}  // namespace pcp::trace::agent
