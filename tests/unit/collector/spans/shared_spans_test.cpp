// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/spans/shared_spans.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace pcp::trace::agent {
namespace {

constexpr std::uint32_t kUid = 1000;

std::vector<StoredSpan> spans_at(CaptureBits bits, std::uint64_t first, std::size_t count) {
  std::vector<StoredSpan> spans(count);
  for (StoredSpan& span : spans) {
    span.capture_bits = bits;
    span.span = first++;
  }
  return spans;
}

TEST(SpansTest, RingsWhenACaptureBeginsAndEnds) {
  SharedSpans spans;
  int rung = 0;
  spans.set_bell([&] { ++rung; });
  const auto before = spans.number();
  auto monitor = spans.capture("tag=a", {});
  EXPECT_EQ(rung, 1);
  EXPECT_GT(spans.number(), before);
  EXPECT_EQ(spans.captures()->number(), spans.number());
  EXPECT_EQ(spans.totals().captures, 1u);
  monitor.reset();
  EXPECT_EQ(rung, 2);
  EXPECT_EQ(spans.totals().captures, 0u);
  EXPECT_EQ(spans.captures()->seen_by(kUid), 0u);
}

TEST(SpansTest, AreOfThoseWhoMayAskForThem) {
  SharedSpans spans;
  const auto everybodys = spans.capture("tag=*", {});
  auto own = spans.capture("tag=*", {kUid});
  const auto number = spans.number();
  auto sent = spans_at(0b11, 1, 3);
  spans.add(sent, number, {kUid, "alice"});
  sent = spans_at(0b11, 4, 5);
  spans.add(sent, number, {kUid + 1, "bob"});
  EXPECT_EQ(everybodys->read(100).entries.size(), 8u);
  EXPECT_EQ(own->read(100).entries.size(), 3u);
  own.reset();
  own = spans.capture("tag=b", {kUid});  // spans of a capture that is over are not the next one's
  sent = spans_at(0b10, 9, 1);
  spans.add(sent, number, {kUid, "alice"});
  EXPECT_EQ(own->waiting(), 0u);
}

// The ingest thread adds spans while monitors come, read and go.
TEST(SpansTest, MayBeReadWhileTheyCome) {
  constexpr std::uint64_t kPdus = 300;
  constexpr std::uint64_t kOfEach = 50;
  SharedSpans spans(100'000);
  const auto monitor = spans.capture("tag=a", {});
  const auto number = spans.number();
  std::atomic<bool> over{false};
  std::thread ingest([&] {
    for (std::uint64_t i = 0; i < kPdus; ++i) {
      auto sent = spans_at(0b1, i * kOfEach, kOfEach);
      spans.add(sent, number, {kUid, "alice"});
      spans.sweep();
    }
    over = true;
  });
  std::uint64_t got = 0;
  std::uint64_t missed = 0;
  for (bool last = false; !last;) {
    last = over;
    const auto other = spans.capture("tag=b", {});
    for (bool more = true; more;) {
      const SpanReading reading = monitor->read(20);
      got += reading.entries.size();
      missed += reading.missed(reading.entries.size());
      monitor->advance(reading, reading.entries.size());
      more = !reading.is_all;
    }
  }
  ingest.join();
  EXPECT_EQ(got + missed, kPdus * kOfEach);
  EXPECT_EQ(spans.totals().delivered, got);
  EXPECT_EQ(spans.totals().overwritten, missed);
}

}  // namespace
}  // namespace pcp::trace::agent
