// SPDX-License-Identifier: LGPL-2.1-or-later
#include "counts/pending.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "deltas.hpp"
#include "support/add_records.hpp"

namespace pcp::trace::client {
namespace {

const Tag* tag(const char* name) { return intern_tag(name); }

struct PendingTest : testing::Test {
  Pending pending;

  void add(const Record& record, std::uint64_t now_ns) {
    add_records(pending, std::span(&record, 1), now_ns);
  }
};

// A thousand records of seven tags, as AddsManyRecordsAtOnce adds them.
void expect_a_thousand(Pending& pending, std::uint64_t first_ns) {
  ASSERT_EQ(pending.queued() - pending.popped(), 7u);
  for (int t = 0; t < 7; ++t, pending.pop()) {
    Delta expected;
    for (int i = t; i < 1000; i += 7) expected.add(i);
    EXPECT_EQ(pending.front().tag, intern_tag("many " + std::to_string(t)));
    EXPECT_EQ(pending.front().delta, expected);
    EXPECT_EQ(pending.front().histogram.total(), expected.count);
    EXPECT_EQ(pending.front().first_ns, first_ns);
  }
  EXPECT_TRUE(pending.empty());
}

TEST_F(PendingTest, AddsManyRecordsAtOnce) {
  std::vector<Record> records;
  for (int i = 0; i < 1000; ++i)
    records.emplace_back(intern_tag("many " + std::to_string(i % 7)), i, RecordKind::Observe);
  // All at once without entries; the same with popped entries; and some before the others.
  std::uint64_t now = 5;
  for (const std::size_t first : {1000u, 1000u, 100u}) {
    add_records(pending, std::span(records).first(first), now);
    add_records(pending, std::span(records).subspan(first), now + 1);
    expect_a_thousand(pending, now);
    now += 10;
  }
}

TEST_F(PendingTest, AddsUpPerTagAndKind) {
  add({tag("t"), 0.5, RecordKind::Transact}, 10);
  add({tag("t"), 1.5, RecordKind::Transact}, 20);
  add({tag("t"), 9.0, RecordKind::Abort}, 30);
  add({tag("t"), 0.0, RecordKind::Point}, 40);
  EXPECT_EQ(pending.queued(), 3u);
  const Pending::Entry& entry = pending.front();
  EXPECT_EQ(entry.type(), TraceType::Transact);
  EXPECT_EQ(entry.delta, delta_of({0.5, 1.5}));
  EXPECT_EQ(entry.histogram.total(), 2u);
  EXPECT_EQ(entry.first_ns, 10u);
  EXPECT_EQ(entry.last_ns, 20u);
  EXPECT_EQ(entry.records(), 2u);
  pending.pop();
  const Pending::Entry& failed = pending.front();
  EXPECT_EQ(failed.type(), TraceType::Transact);
  EXPECT_TRUE(failed.is_of_failures());
  EXPECT_EQ(failed.delta, delta_of({9}));
  EXPECT_EQ(failed.histogram.total(), 1u);
}

TEST_F(PendingTest, KeepsWhatIsNotFiniteOutOfSumAndHistogram) {
  add({tag("nan"), std::nan(""), RecordKind::Observe}, 1);
  add({tag("nan"), 4.0, RecordKind::Observe}, 1);
  EXPECT_EQ(pending.front().delta, delta_of({std::nan(""), 4}));
  EXPECT_EQ(pending.front().histogram.total(), 1u);
}

TEST_F(PendingTest, KeepsIncrementsApartWithAllThatWasEverAdded) {
  add({tag("t"), 7, RecordKind::Counter}, 1);
  add({tag("t"), 2, RecordKind::Add}, 2);
  add({tag("t"), 3, RecordKind::Add}, 3);
  EXPECT_EQ(pending.front().delta.last, 7);
  pending.pop();
  EXPECT_TRUE(pending.front().is_added());
  EXPECT_EQ(pending.front().type(), TraceType::Counter);
  EXPECT_EQ(pending.front().delta, (Delta{.count = 2, .sum = 5, .last = 5}));
  const Pending::Entry sent = pending.front();
  pending.pop();

  OverflowCell cell{tag("t"), RecordKind::Add, {}};
  add_increments(cell.delta, 4, 10);
  pending.make_room(1);
  pending.add(cell, 4);
  EXPECT_EQ(pending.front().delta, (Delta{.count = 4, .sum = 10, .last = 15}));
  pending.pop();
  pending.add_again(sent);  // no later call still waits, and increments are in no percentiles
  EXPECT_EQ(pending.front().delta, (Delta{.count = 2, .sum = 5, .last = 15}));
}

TEST_F(PendingTest, WhatComesBackDoesNotReplaceALaterLastValueAndWidensTheTime) {
  add({tag("again"), 1.0, RecordKind::Observe}, 10);
  add({tag("again"), 1.0, RecordKind::Observe}, 20);
  const Pending::Entry old = pending.front();
  pending.pop();
  add({tag("again"), 2.0, RecordKind::Observe}, 30);
  add({tag("again"), 2.0, RecordKind::Observe}, 40);
  pending.add_again(old);
  EXPECT_EQ(pending.front().delta, delta_of({1, 1, 2, 2}, 2));
  EXPECT_EQ(pending.front().first_ns, 10u);
  EXPECT_EQ(pending.front().last_ns, 40u);
  pending.pop();
  pending.add_again(old);  // no later call waits
  EXPECT_EQ(pending.front().first_ns, 10u);
  EXPECT_EQ(pending.front().last_ns, 20u);
}

TEST_F(PendingTest, WhatIsRecordedAfterAMentionIsAsOldAsItself) {
  add({tag("mentioned"), 3.0, RecordKind::Add}, 10);
  pending.pop();
  EXPECT_TRUE(pending.redefine(*tag("mentioned")));
  EXPECT_EQ(pending.front().records(), 0u);
  add({tag("mentioned"), 4.0, RecordKind::Add}, 20);
  EXPECT_EQ(pending.front().first_ns, 20u);
  EXPECT_EQ(pending.front().delta.last, 7.0);
  pending.pop();
  EXPECT_TRUE(pending.empty());
}

}  // namespace
}  // namespace pcp::trace::client
