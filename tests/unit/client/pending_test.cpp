#include "pending.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace pcp::trace::client {
namespace {

const Tag* tag(const char* name) { return intern_tag(name); }

TEST(Pending, AddsUpPerTagAndType) {
  Pending pending;
  pending.add(Record{tag("t"), 0.5, RecordKind::Transact}, 10);
  pending.add(Record{tag("t"), 1.5, RecordKind::Transact}, 20);
  pending.add(Record{tag("t"), 9.0, RecordKind::Abort}, 30);
  pending.add(Record{tag("t"), 0.0, RecordKind::Point}, 40);
  EXPECT_EQ(pending.queued(), 2u);
  const Pending::Entry& entry = pending.front();
  EXPECT_EQ(entry.type, TraceType::Transact);
  EXPECT_EQ(entry.delta.count, 2u);
  EXPECT_EQ(entry.delta.aborts, 1u);
  EXPECT_EQ(entry.delta.sum, 2.0);
  EXPECT_EQ(entry.histogram.total(), 2u);
  EXPECT_EQ(entry.first_ns, 10u);
  EXPECT_EQ(entry.last_ns, 30u);
  EXPECT_EQ(entry.records(), 3u);
}

TEST(Pending, HandsEntriesOverInOrderAndForgetsThem) {
  Pending pending;
  pending.add(Record{tag("first"), 1, RecordKind::Observe}, 1);
  pending.add(Record{tag("second"), 2, RecordKind::Observe}, 2);
  EXPECT_EQ(pending.front().tag, tag("first"));
  pending.pop();
  EXPECT_EQ(pending.front().tag, tag("second"));
  pending.add(Record{tag("first"), 3, RecordKind::Observe}, 3);
  pending.pop();
  EXPECT_EQ(pending.front().delta.count, 1u);
  EXPECT_EQ(pending.front().delta.sum, 3.0);
  EXPECT_EQ(pending.front().histogram.total(), 1u);
  EXPECT_EQ(pending.front().first_ns, 3u);
  pending.pop();
  EXPECT_TRUE(pending.empty());
  EXPECT_EQ(pending.popped(), 3u);
  EXPECT_EQ(pending.queued(), 3u);
}

TEST(Pending, KeepsWhatIsNotFiniteOutOfSumAndHistogram) {
  Pending pending;
  pending.add(Record{tag("nan"), std::nan(""), RecordKind::Observe}, 1);
  pending.add(Record{tag("nan"), 4.0, RecordKind::Observe}, 1);
  EXPECT_EQ(pending.front().delta.count, 2u);
  EXPECT_EQ(pending.front().delta.nonfinite, 1u);
  EXPECT_EQ(pending.front().delta.sum, 4.0);
  EXPECT_EQ(pending.front().histogram.total(), 1u);
}

TEST(Pending, MergesCellsWithoutAHistogram) {
  Pending pending;
  Delta delta;
  delta.add(2.0);
  delta.add(3.0);
  delta.unbinned = 2;
  pending.add(OverflowCell{tag("cell"), TraceType::Observe, delta}, 1);
  EXPECT_EQ(pending.front().delta.count, 2u);
  EXPECT_EQ(pending.front().delta.last, 3.0);
  EXPECT_EQ(pending.front().histogram.total(), 0u);
}

TEST(Pending, WhatComesBackDoesNotReplaceALaterLastValue) {
  Pending pending;
  pending.add(Record{tag("again"), 1.0, RecordKind::Observe}, 1);
  const Pending::Entry old = pending.front();
  pending.pop();
  pending.add(Record{tag("again"), 2.0, RecordKind::Observe}, 2);
  pending.add_again(old);
  EXPECT_EQ(pending.front().delta.count, 2u);
  EXPECT_EQ(pending.front().delta.sum, 3.0);
  EXPECT_EQ(pending.front().delta.last, 2.0);
}

}  // namespace
}  // namespace pcp::trace::client
