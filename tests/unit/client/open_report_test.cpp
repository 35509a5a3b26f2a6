// SPDX-License-Identifier: LGPL-2.1-or-later
#include "open/open_report.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "support/encoded.hpp"
#include "support/scarce_memory.hpp"

namespace pcp::trace::client {
namespace {

constexpr std::size_t kMuch = 1 << 16;

struct OpenReportTest : testing::Test {
  Doorbell doorbell;
  Recorders recorders{doorbell, 64};
  Recorder& recorder = *recorders.reuse_or_make();
  Recorder& other = *recorders.reuse_or_make();
  OpenReport report;
  const Tag* tag = intern_tag("in flight");

  static Begun begin(Recorder& recorder, const Tag* tag) {
    return recorder.begin_traced(tag).begun;
  }
  static void end(Recorder& recorder, const Tag* tag, const Begun& begun) {
    recorder.open().leave(tag, begun);
  }

  // The report as the agent reads it.
  std::map<std::string, wire::OpenCount> tell(std::size_t bytes = kMuch, bool anew = false) {
    const OpenReport::Told told = report.tell(bytes);
    EXPECT_EQ(told.anew, anew);
    EXPECT_LE(told.in_flight.size(), bytes);
    const std::string pdu = wire::pdu_of(
        wire::append_batch, 1, {.age = {}, .counters = {}, .in_flight = told.in_flight}, "");
    wire::Batch batch;
    EXPECT_TRUE(wire::decode_batch(wire::payload_of(pdu), batch));
    EXPECT_EQ(batch.in_flight.size(), told.tags.size());
    std::map<std::string, wire::OpenCount> all;
    for (std::size_t i = 0; i < batch.in_flight.size(); ++i) {
      EXPECT_EQ(batch.in_flight[i].tag_id, told.tags[i]->id);
      all[told.tags[i]->text()] = batch.in_flight[i];
    }
    return all;
  }
  // The first report of a connection.
  std::map<std::string, wire::OpenCount> scan_and_tell_all() {
    report.scan(recorders);
    return tell(kMuch, true);
  }
  void begin_and_tell() {
    begin(recorder, tag);
    EXPECT_EQ(scan_and_tell_all().at("in flight").open, 1U);
  }
};

TEST_F(OpenReportTest, TellsOnceHowManyAreOpenAndWhichIsTheOldest) {
  begin(recorder, tag);
  begin(other, tag);
  begin(other, intern_tag("another"));
  EXPECT_TRUE(report.scan(recorders));
  EXPECT_FALSE(report.empty());
  EXPECT_TRUE(report.has_news());
  const auto told = tell(kMuch, true);
  EXPECT_EQ(told.size(), 2U);
  EXPECT_EQ(told.at("in flight").open, 2U);
  EXPECT_EQ(told.at("in flight").tid, static_cast<std::uint32_t>(::gettid()));
  EXPECT_EQ(told.at("another").open, 1U);
  EXPECT_GE(told.at("in flight").oldest_ns, told.at("another").oldest_ns);
  EXPECT_FALSE(report.scan(recorders));
  EXPECT_FALSE(report.has_news());
  EXPECT_TRUE(tell().empty());
}

TEST_F(OpenReportTest, TellsTheAgeOfWhatBeganEarlierAndTakesNoOtherEndForItsOwn) {
  const std::uint64_t half = now_ns() / 2;
  const auto begin_since = [&] { return recorder.begin_since(tag, half << 1 | 1).begun; };
  const Begun first = begin_since();
  end(recorder, tag, first);
  EXPECT_EQ(begin_since().ref, first.ref);
  end(recorder, tag, first);  // by a copy
  const wire::OpenCount told = scan_and_tell_all().at("in flight");
  EXPECT_EQ(told.open, 1U);
  EXPECT_GE(told.oldest_ns, half);
}

TEST_F(OpenReportTest, TellsOfAnEndAndOfAnotherOneThatIsTheOldestNow) {
  const Begun first = begin(recorder, tag);
  scan_and_tell_all();
  begin(recorder, tag);
  end(recorder, tag, first);
  EXPECT_TRUE(report.scan(recorders));
  EXPECT_EQ(tell().at("in flight").open, 1U);
  recorders.clear_open();
  EXPECT_TRUE(report.scan(recorders));
  EXPECT_TRUE(report.empty());
  EXPECT_EQ(tell().at("in flight"), (wire::OpenCount{.tag_id = tag->id}));
}

TEST_F(OpenReportTest, WhatIsAsItWasIsNoNews) {
  EXPECT_FALSE(report.scan(recorders));
  EXPECT_TRUE(report.empty());
  EXPECT_FALSE(report.has_news());
  const Begun begun = begin(recorder, tag);
  report.scan(recorders);
  end(recorder, tag, begun);
  EXPECT_TRUE(report.scan(recorders));  // something has changed
  EXPECT_TRUE(tell(kMuch, true).empty());
}

TEST_F(OpenReportTest, TellsAllToANewConnection) {
  begin(recorder, tag);
  const Begun ended = begin(recorder, intern_tag("another"));
  scan_and_tell_all();
  end(recorder, intern_tag("another"), ended);
  report.scan(recorders);
  report.begin_anew();
  EXPECT_TRUE(report.has_news());
  const auto told = tell(kMuch, true);
  EXPECT_EQ(told.size(), 1U);
  EXPECT_EQ(told.at("in flight").open, 1U);
}

TEST_F(OpenReportTest, TellsANewConnectionThatNothingIsOpenIfAnEarlierOneHeardOtherwise) {
  begin_and_tell();
  recorders.clear_open();
  report.scan(recorders);
  tell();
  report.begin_anew();
  EXPECT_TRUE(report.has_news());
  EXPECT_TRUE(tell(kMuch, true).empty());
  EXPECT_FALSE(report.has_news());
}

TEST_F(OpenReportTest, TellsNoMoreThanThereIsRoomForAndTheRestLater) {
  constexpr int kTags = 1000;
  for (int i = 0; i < kTags; ++i) begin(recorder, intern_tag("many " + std::to_string(i)));
  report.scan(recorders);
  std::size_t told = tell(1000, true).size();
  EXPECT_GT(told, 10U);
  EXPECT_LT(told, 1000U / 5);
  for (int rounds = 0; rounds < kTags && report.has_news(); ++rounds) told += tell(1000).size();
  EXPECT_EQ(told, static_cast<std::size_t>(kTags));
  EXPECT_TRUE(tell(0).empty());
}

TEST_F(OpenReportTest, OfWhatIsOnlyCountedTheAgeIsThatOfItsFirstSight) {
  OpenEntries& entries = const_cast<OpenEntries&>(recorders.open_entries());
  entries.count_without_entry(*tag);
  EXPECT_EQ(scan_and_tell_all().at("in flight").open, 1U);
  const std::uint64_t later = now_ns() + 20'000'000;
  while (now_ns() < later) continue;
  entries.count_without_entry(*tag);
  report.scan(recorders);
  const wire::OpenCount told = tell().at("in flight");
  EXPECT_EQ(told.open, 2U);
  EXPECT_GE(told.oldest_ns, 20'000'000U);
  EXPECT_EQ(told.tid, 0U);
}

TEST_F(OpenReportTest, TellsAgainWhatWasHeardTooLate) {
  begin_and_tell();
  report.tell_again();
  EXPECT_EQ(tell().at("in flight").open, 1U);
}

TEST_F(OpenReportTest, IsEmptyForGoodAtTheEnd) {
  begin_and_tell();
  report.on_goodbye();
  EXPECT_TRUE(report.empty());
  EXPECT_FALSE(report.scan(recorders));
  report.begin_anew();
  EXPECT_FALSE(report.has_news());
}

TEST_F(OpenReportTest, DoesNotNameAThreadThatHasEnded) {
  begin(recorder, tag);
  EXPECT_NE(scan_and_tell_all().at("in flight").tid, 0U);
  recorder.give_up();
  EXPECT_TRUE(report.scan(recorders));
  EXPECT_EQ(tell().at("in flight").tid, 0U);
  ASSERT_TRUE(recorder.try_take_over());
  recorder.note_thread();
  begin(recorder, intern_tag("another"));
  report.begin_anew();
  const auto told = scan_and_tell_all();
  EXPECT_EQ(told.at("in flight").tid, 0U);
  EXPECT_EQ(told.at("another").tid, static_cast<std::uint32_t>(::gettid()));
}

#ifdef TRACE_SCARCE_MEMORY
TEST_F(OpenReportTest, TellsWhatItLastFoundIfMemoryRunsOut) {
  begin(recorder, tag);
  report.scan(recorders);
  begin(recorder, tag);
  begin(recorder, intern_tag("needs memory"));
  {
    const ScarceMemory scarce(1);
    EXPECT_TRUE(throws([&] { report.scan(recorders); }));
  }
  EXPECT_EQ(tell(kMuch, true).at("in flight").open, 1U);
  report.scan(recorders);
  EXPECT_EQ(tell().at("in flight").open, 2U);
}
#endif

}  // namespace
}  // namespace pcp::trace::client
