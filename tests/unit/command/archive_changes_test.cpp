// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/pcp/archive_changes.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/command/archive_of_tags.hpp"

namespace pcp::trace::command {
namespace {

// The reported changes, one line each: "TAG QUANTITY VALUE FROM-AT", and perhaps "from zero".
class Told : public ChangeTaker {
 public:
  explicit Told(const TagNames& names) : names_(names) {}

  void take_sample(const SampleTime& time) override { at_ = time.at; }
  void take(const Change& change) override {
    std::ostringstream line;
    line << names_.name(change.tag) << ' ' << static_cast<int>(index_of(change.quantity)) << ' '
         << change.value << ' ' << second(change.from) << '-' << second(at_)
         << (change.is_from_zero ? " from zero" : "");
    lines.push_back(line.str());
  }
  void take_histogram(std::size_t tag, std::string_view text) override {
    lines.push_back(names_.name(tag) + " " + std::string(text));
  }

  std::vector<std::string> lines;

 private:
  static double second(WallTime at) {
    return std::chrono::duration<double>(at - moment(0)).count();
  }

  const TagNames& names_;
  WallTime at_{};
};

class ArchiveChangesOf : public OfArchives {
 protected:
  using Lines = std::vector<std::string>;

  Lines told(const Window& window = {}) {
    finish_all();
    Result<ArchiveSource> source = ArchiveSource::open(path());
    EXPECT_TRUE(source) << source.error().message;
    TagNames names;
    Told taker(names);
    ArchiveChanges changes(*source, names, window);
    EXPECT_TRUE(changes.read_all(taker));
    return taker.lines;
  }
};

// As pmlogextract cuts it, perhaps after a gap: without the values that did not change. So a tag
// that comes late may be older.
TEST_F(ArchiveChangesOf, NoTagBeginsInAPartOfARecording) {
  for (const bool begins_after_gap : {false, true}) {
    ArchiveOfTags& archive = make("run", {.is_part = true});
    if (begins_after_gap) archive.say(0, kHasAll);
    archive.calls(0, 7).sample(1, {{kCalls, {{"b", 90.0}}}});
    archive.sample(2, {{kCalls, {{"b", 91.0}}}});
    EXPECT_EQ(told(), (Lines{"a 0 0 0-0", "b 0 0 0-1", "b 0 1 1-2"}));
    EXPECT_TRUE(totals().run.incomplete.at(0).why.starts_with("it is a part of a recording, with"));
  }
}

TEST_F(ArchiveChangesOf, TheFirstSampleTellsOfNothing) {
  make().sample(0, {{kCalls, 100}, {kMost, 9}}).sample(1, {{kCalls, 101}, {kMost, 3}});
  EXPECT_EQ(told(), (Lines{"a 0 0 0-0", "a 0 1 0-1", "a 10 3 0-1"}));
}

TEST_F(ArchiveChangesOf, AMetricThatTheFirstSampleOmitsHasNoValuesThen) {
  make().sample(0, {{kUptime, 0.5}}).sample(1, {{kCalls, 5}, {kMost, 9}});
  EXPECT_EQ(told(), (Lines{"a 0 5 0-1 from zero", "a 10 9 0-1"}));
}

TEST_F(ArchiveChangesOf, ATagThatComesInTheWantedTimeBeginsAtZeroThere) {
  begun().sample(5, {{kPeriod, 1}}).calls(6, 3);
  EXPECT_EQ(told({moment(4)}), (Lines{"a 0 3 5-6 from zero"}));
}

TEST_F(ArchiveChangesOf, WhatHasNotChangedNeedNotBeInASample) {
  begun().calls(1, 1).sample(2, {{kPeriod, 1}}).sample(3, {{kCalls, {{"b", 1.0}}}}).calls(4, 2);
  EXPECT_EQ(told(), (Lines{"a 0 1 0-1 from zero", "b 0 1 2-3 from zero", "a 0 1 3-4"}));
}

TEST_F(ArchiveChangesOf, APmloggerMayLogMetricsAtTheirOwnTimes) {
  make("run", kPmloggers)
      .sample(0, {{kCalls, 1}, {kTime, 1}})
      .calls(1, 2)
      .sample(2, {{kCalls, 3}, {kTime, 5}});
  EXPECT_EQ(told(), (Lines{"a 0 0 0-0", "a 2 0 0-0", "a 0 1 0-1", "a 0 1 1-2", "a 2 4 0-2"}));
}

TEST_F(ArchiveChangesOf, WhatFallsHasBegunAnew) {
  begun().sample(1, {{kCalls, 10}, {kTime, 1}}).sample(2, {{kCalls, 4}, {kTime, 2}});
  EXPECT_EQ(told(), (Lines{"a 0 10 0-1 from zero", "a 2 1 0-1 from zero", "a 0 4 1-2 from zero",
                           "a 2 2 1-2 from zero"}));
}

TEST_F(ArchiveChangesOf, ANewAgentBeginsAtZeroEvenIfItHasMore) {
  begun().sample(1, {{kUptime, 100}, {kCalls, 10}}).sample(2, {{kUptime, 1}, {kCalls, 12}});
  EXPECT_EQ(told(), (Lines{"a 0 10 0-1 from zero", "a 0 12 1-2 from zero"}));
}

// Calls between the last sample and the reset are unknown; the agent's clock tells when it was.
TEST_F(ArchiveChangesOf, AfterAResetAllBeginsAtZeroThen) {
  begun()
      .sample(1, {{kUptime, 101}, {kStarted, 5000}, {kReset, 5000}, {kCalls, 10}})
      .sample(2, {{kUptime, 102}, {kStarted, 5000}, {kReset, 5101.5}, {kCalls, 12}})
      .sample(3, {{kUptime, 103}, {kStarted, 5000}, {kReset, 5101.5}, {kCalls, 15}});
  EXPECT_EQ(told(), (Lines{"a 0 10 0-1 from zero", "a 0 12 1.5-2 from zero", "a 0 3 2-3"}));
}

TEST_F(ArchiveChangesOf, AnAgentThatStartedAtAnotherTimeIsAnotherThoughItRunsForLonger) {
  begun()
      .sample(1, {{kUptime, 1}, {kStarted, 5000}, {kCalls, 10}})
      .sample(9, {{kUptime, 6}, {kStarted, 5003}, {kCalls, 12}});
  EXPECT_EQ(told(), (Lines{"a 0 10 0-1 from zero", "a 0 12 3-9 from zero"}));
}

// A pmlogger may log the agent's facts after the tags: then the tags are already new.
TEST_F(ArchiveChangesOf, WhatIsLoggedBeforeTheNewsOfAResetIsNotCountedTwice) {
  make("run", kPmloggers)
      .calls(0, 10)
      .sample(0.5, {{kUptime, 100.5}, {kStarted, 5000}, {kReset, 5000}})
      .calls(2, 4)
      .sample(2.5, {{kUptime, 102.5}, {kStarted, 5000}, {kReset, 5101}})
      .calls(3, 5);
  EXPECT_EQ(told(), (Lines{"a 0 0 0-0", "a 0 4 0-2 from zero", "a 0 1 2-3"}));
}

TEST_F(ArchiveChangesOf, ASumOfObservationsMayFall) {
  begun().sample(1, {{kSeen, 1}, {kSeenSum, 5}}).sample(2, {{kSeen, 2}, {kSeenSum, -3}});
  EXPECT_EQ(told().back(), "a 2 -8 1-2");
}

// Another recording, or a part of it, may follow the mark.
TEST_F(ArchiveChangesOf, AfterAMarkNumbersAreTakenAsTheyAre) {
  for (const std::string_view says : {kHasAll, kBegins, std::string_view()}) {
    ArchiveOfTags& archive = begun().calls(1, 10).mark(2).say(5, says).calls(5, 50);
    archive.sample(6, {{kCalls, {{"a", 51.0}, {"b", 2.0}}}});
    EXPECT_EQ(told(), (Lines{"a 0 10 0-1 from zero", "a 0 0 5-5", "a 0 1 5-6",
                             says.empty() ? "b 0 0 5-6" : "b 0 2 5-6 from zero"}));
    EXPECT_EQ(totals({"run"}, {moment(5)}).run.incomplete.empty(), !says.empty());
  }
}

TEST_F(ArchiveChangesOf, AfterAMarkANewAgentHasBegunAtZero) {
  begun()
      .sample(1, {{kUptime, 100}, {kCalls, {{"a", 10.0}, {"b", 3.0}}}})
      .mark(2)
      .sample(5, {{kUptime, 1}, {kCalls, 12}})
      .mark(6)
      .say(9, kHasAll)
      .sample(9, {{kUptime, 5}, {kCalls, 20}})
      .sample(10, {{kCalls, {{"b", 1.0}}}});
  EXPECT_EQ(told(), (Lines{"a 0 10 0-1 from zero", "b 0 3 0-1 from zero", "a 0 12 4-5 from zero",
                           "a 0 0 9-9", "b 0 1 9-10 from zero"}));
}

TEST_F(ArchiveChangesOf, NumbersMayMeanOtherTagsAfterARestart) {
  begun().calls(1, 10).rename(TraceType::Transact, 2, 1, "b").sample(2, {{kCalls, {{"b", 3.0}}}});
  EXPECT_EQ(told(), (Lines{"a 0 10 0-1 from zero", "b 0 3 1-2 from zero"}));
}

// If several entries have the same time, PCP's library knows only one of them.
TEST_F(ArchiveChangesOf, ANameThatIsNotGivenForATimeIsLookedForInAll) {
  begun()
      .rename(TraceType::Transact, 1, 1, "a")
      .rename(TraceType::Transact, 1, 2, "b")
      .sample(1, {{kCalls, {{"a", 1.0}, {"b", 1.0}}}});
  EXPECT_EQ(told(), (Lines{"a 0 1 0-1 from zero", "b 0 1 0-1 from zero"}));
}

TEST_F(ArchiveChangesOf, AWindowBeginsWithASampleThatTellsOfNothing) {
  ArchiveOfTags& archive = begun();
  for (int second = 1; second <= 5; ++second) archive.calls(second, 10.0 * second);
  EXPECT_EQ(told({moment(1.5), moment(4)}),
            (Lines{"a 0 0 2-2", "a 0 0 2-2", "a 0 10 2-3", "a 0 10 3-4"}));
}

TEST_F(ArchiveChangesOf, AWindowHasTheTagsThatDoNotChangeInIt) {
  const std::string counter = "trace.counter.count";
  const std::string level = "trace.counter.value";
  begun()
      .sample(1, {{counter, {{"old", 1.0}}}, {level, {{"old", 5.0}}}})
      .mark(2)
      .sample(3, {{counter, {{"c", 7.0}}}, {level, {{"c", 40.0}}}})
      .calls(4, 1)
      .calls(5, 3);
  EXPECT_EQ(told({moment(3.5), moment(9)}),
            (Lines{"c 0 0 4-4", "c 6 40 4-4", "a 0 0 4-4", "a 0 2 4-5"}));
}

}  // namespace
}  // namespace pcp::trace::command
