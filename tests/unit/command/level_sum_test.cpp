// SPDX-License-Identifier: LGPL-2.1-or-later
#include <vector>

#include <gtest/gtest.h>

#include "command/run/tag_series.hpp"
#include "unit/command/archive_of_tags.hpp"

namespace pcp::trace::command {
namespace {

constexpr const char* kOpen = "trace.transact.inflight";

TEST(LevelSum, ALevelStaysUntilThereIsAnother) {
  LevelSum sum;
  sum.set(7, 1, 3);
  sum.set(7, 4, 1);
  sum.set(7, 4, 2);
  sum.finish_archive(5);
  EXPECT_EQ(sum.finish(7), (std::vector<float>{0, 3, 3, 3, 2, 2, 0}));
}

TEST(LevelSum, LevelsOfSeveralArchivesAddUp) {
  LevelSum sum;
  sum.set(7, 0, 1);
  sum.finish_archive(3);
  sum.set(7, 2, 10);
  sum.finish_archive(4);
  EXPECT_EQ(sum.finish(5), (std::vector<float>{1, 1, 11, 11, 10}));
}

TEST(LevelSum, LevelsOfSeveralTagsAddUp) {
  LevelSum sum;
  sum.set(7, 0, 1);
  sum.set(8, 2, 10);
  sum.set(7, 3, 2);
  sum.finish_archive(3);
  EXPECT_EQ(sum.finish(4), (std::vector<float>{1, 1, 11, 12}));
}

TEST(LevelSum, AfterAGapNothingIsKnownUntilItIsSaid) {
  LevelSum sum;
  sum.set(7, 0, 1);
  sum.interrupt(1);
  sum.set(7, 3, 5);
  sum.finish_archive(4);
  sum.set(7, 0, 10);
  sum.finish_archive(4);
  EXPECT_EQ(known(sum.finish(5)), (std::vector<float>{11, 11, -1, 15, 15}));
}

TEST(LevelSum, APointWithAGapInsideHasTheLevelBeforeIt) {
  LevelSum sum;
  sum.set(7, 0, 1);
  sum.interrupt(1);
  sum.set(7, 1, 5);
  sum.finish_archive(2);
  EXPECT_EQ(sum.finish(3), (std::vector<float>{1, 1, 5}));
}

TEST(LevelSum, OfNoArchiveIsNothing) {
  LevelSum sum;
  sum.interrupt(2);
  sum.finish_archive(3);
  EXPECT_TRUE(sum.finish(4).empty());
}

class InFlightOf : public OfArchives {
 protected:
  std::vector<float> in_flight(const std::vector<std::string>& names = {"run"},
                               const Window& window = {}) {
    return known(model(names, window).series.at(0).of(Quantity::InFlight));
  }
};

TEST_F(InFlightOf, ATagAreItsOpenTransactionsAtEachSample) {
  begun()
      .sample(1, {{kCalls, 1}, {kOpen, 2}})
      .sample(2, {{kPeriod, 1}})
      .sample(3, {{kOpen, 5}})
      .mark(4)
      .calls(6, 9)
      .sample(7, {{kCalls, 9}, {kOpen, 1}})
      .sample(8, {{kPeriod, 1}});
  EXPECT_EQ(in_flight(), (std::vector<float>{2, 2, 5, -1, 1, 1}));
}

TEST_F(InFlightOf, APartOfTheTimeBeginsWithWhatWasOpenBefore) {
  begun()
      .sample(1, {{kCalls, 1}, {kOpen, 7}})
      .sample(2, {{kCalls, 2}, {kTime, 1}})
      .calls(3, 3)
      .sample(4, {{kCalls, 4}, {kOpen, 0}});
  EXPECT_EQ(in_flight({"run"}, {moment(1.5), moment(9)}), (std::vector<float>{7, 0}));
}

TEST_F(InFlightOf, AnArchiveThatDoesNotSayItMakesItUnknown) {
  begun().sample(1, {{kCalls, 1}, {kOpen, 2}});
  begun("stock", {.host = "jupiter", .metrics = {kCalls, kTime}}).calls(1, 1);
  EXPECT_EQ(in_flight({"run", "stock"}), std::vector<float>());
}

}  // namespace
}  // namespace pcp::trace::command
