// SPDX-License-Identifier: LGPL-2.1-or-later
#include <vector>

#include <gtest/gtest.h>

#include "command/run/tag_series.hpp"
#include "unit/command/archive_of_tags.hpp"

namespace pcp::trace::command {
namespace {

constexpr const char* kOpen = "trace.transact.inflight";

// Levels of tags at points, gaps, and the ends of archives.
struct Levels : LevelSum {
  Levels& at(std::size_t point, std::size_t tag, double level) {
    set(tag, point, level);
    return *this;
  }
  Levels& gap(std::size_t point) {
    interrupt(point);
    return *this;
  }
  Levels& end(std::size_t point) {
    finish_archive(point);
    return *this;
  }
  std::vector<float> sums(std::size_t points) { return known(finish(points)); }
};

TEST(LevelSum, ALevelStaysUntilThereIsAnotherAndAllAddUp) {
  using Sums = std::vector<float>;
  EXPECT_EQ(Levels().at(1, 7, 3).at(4, 7, 1).at(4, 7, 2).end(5).sums(7),
            (Sums{0, 3, 3, 3, 2, 2, 0}));
  EXPECT_EQ(Levels().at(0, 7, 1).end(3).at(2, 7, 10).end(4).sums(5), (Sums{1, 1, 11, 11, 10}));
  EXPECT_EQ(Levels().at(0, 7, 1).at(2, 8, 10).at(3, 7, 2).end(3).sums(4), (Sums{1, 1, 11, 12}));
  // After a gap nothing is known until it is said; a point with a gap inside has the level before.
  EXPECT_EQ(Levels().at(0, 7, 1).gap(1).at(3, 7, 5).end(4).at(0, 7, 10).end(4).sums(5),
            (Sums{11, 11, -1, 15, 15}));
  EXPECT_EQ(Levels().at(0, 7, 1).gap(1).at(1, 7, 5).end(2).sums(3), (Sums{1, 1, 5}));
  EXPECT_EQ(Levels().gap(2).end(3).sums(4), Sums{});  // of no archive
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
