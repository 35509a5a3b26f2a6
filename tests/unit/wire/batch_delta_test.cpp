// SPDX-License-Identifier: LGPL-2.1-or-later
// The deltas in a batch: their contents, and wrong ones that are refused.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>
#include <protozero/pbf_writer.hpp>

#include "unit/wire/samples.hpp"

namespace pcp::trace::wire {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kGreatest = std::numeric_limits<double>::max();

// Encodes one delta in a batch, and decodes it.
DeltaEntry through_the_wire(TraceType type, const Collected& collected, std::string& pdu) {
  std::string body;
  append_delta(body, 7, type, collected.delta, collected.histogram);
  append_batch(pdu, kPid, 1, {}, body);
  Batch batch;
  EXPECT_TRUE(decode_batch(payload_of(pdu), batch));
  EXPECT_EQ(batch.entries.size(), 1u);
  return batch.entries.empty() ? DeltaEntry{} : batch.entries[0];
}

void expect_equal(const Delta& a, const Delta& b) {
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.aborts, b.aborts);
  EXPECT_EQ(a.nonfinite, b.nonfinite);
  EXPECT_EQ(a.unbinned, b.unbinned);
  EXPECT_EQ(a.sum, b.sum);
  EXPECT_EQ(a.min, b.min);
  EXPECT_EQ(a.max, b.max);
  if (!std::isnan(a.last)) {
    EXPECT_EQ(a.last, b.last);
  }
  EXPECT_EQ(std::isnan(a.last), std::isnan(b.last));
}

TEST(Delta, OfValuesKeepsEveryNumberAndTheHistogram) {
  for (const TraceType type : {TraceType::Transact, TraceType::Observe}) {
    for (const Collected& collected :
         {Collected{0.0}, Collected{-0.0}, Collected{3.0}, Collected{1.0, 1.0}, Collected{1, 2, 3},
          Collected{3, 2, 1}, Collected{-1e300, 1e300, 1e-300}, Collected{1e308, 1e308},
          Collected{kNaN}, Collected{kInfinity, -kInfinity}, Collected{2, kNaN},
          Collected{kInfinity, 2}, Collected{1, 2, -kInfinity}}) {
      std::string pdu;
      const DeltaEntry entry = through_the_wire(type, collected, pdu);
      expect_equal(entry.delta, collected.delta);
      Histogram histogram;
      ASSERT_TRUE(histogram.merge_packed(entry.histogram));
      EXPECT_EQ(histogram.total(), collected.histogram.total());
    }
  }
}

TEST(Delta, KeepsTheSignOfZero) {
  std::string pdu;
  EXPECT_TRUE(std::signbit(through_the_wire(TraceType::Observe, {-0.0}, pdu).delta.last));
}

TEST(Delta, OfAPointIsItsCount) {
  std::string pdu;
  const DeltaEntry entry = through_the_wire(TraceType::Point, {-1, -1, kNaN}, pdu);
  Delta expected;
  expected.count = 3;
  expect_equal(entry.delta, expected);
}

TEST(Delta, OfACounterIsItsCountAndItsLastValue) {
  std::string pdu;
  const DeltaEntry entry = through_the_wire(TraceType::Counter, {5, kNaN, 7}, pdu);
  Delta expected;
  expected.count = 3;
  expected.nonfinite = 1;
  expected.last = 7;
  expect_equal(entry.delta, expected);
  EXPECT_EQ(entry.histogram, "");
}

TEST(Delta, OfNothingButAbortsIsOne) {
  Collected collected;
  collected.delta.aborts = 2;
  std::string pdu;
  expect_equal(through_the_wire(TraceType::Transact, collected, pdu).delta, collected.delta);
}

TEST(Delta, CountsWhatItsHistogramHasNotSeen) {
  Collected collected{1, 2, kNaN};
  collected.delta.add(3);  // not in the histogram
  collected.delta.unbinned = 1;
  std::string pdu;
  expect_equal(through_the_wire(TraceType::Transact, collected, pdu).delta, collected.delta);
}

TEST(Delta, TakesAtMost64BytesAnd2Point5ForEachBin) {
  Collected collected;
  collected.delta.aborts = 100'000'000;
  std::size_t bins = 0;
  for (int i = 32; i < 512; i += i / 32, ++bins) {
    for (int k = 0; k < 1000; ++k) collected.add(i);
  }
  std::string body;
  append_delta(body, 1'000'000, TraceType::Transact, collected.delta, collected.histogram);
  EXPECT_LE(static_cast<double>(body.size()), 64 + 2.5 * static_cast<double>(bins));
}

TEST(Delta, OfASingleCallTakesAtMost32Bytes) {
  for (const TraceType type : kTraceTypes) {
    const Collected collected{0.0123};
    std::string body;
    append_delta(body, 1000, type, collected.delta,
                 has_histogram(type) ? collected.histogram : Histogram());
    EXPECT_LE(body.size(), 32u);
  }
}

TEST(Delta, OfIncrementsIsTheirSumAndAllThatTheProcessHasAdded) {
  for (const double total : {6.0, 100.0}) {
    Delta delta;
    delta.count = 3;
    delta.sum = 6;
    delta.last = total;
    std::string body;
    append_increments(body, 7, delta);
    std::string pdu;
    append_batch(pdu, kPid, 1, {}, body);
    Batch batch;
    ASSERT_TRUE(decode_batch(payload_of(pdu), batch));
    const DeltaEntry& entry = batch.entries.at(0);
    EXPECT_TRUE(entry.is_added);
    EXPECT_EQ(entry.type, TraceType::Counter);
    expect_equal(entry.delta, delta);
  }
}

// From here on: deltas that our encoder does not write.
enum Field : std::uint32_t {
  Tag = 1,
  Type,
  Count,
  Aborts,
  Nonfinite,
  Last,
  Sum,
  Min,
  Max,
  Bins,
  Added
};

template <typename Fill>
std::string batch_of(Fill fill) {
  std::string payload;
  protozero::pbf_writer batch(payload);
  batch.add_uint64(1, 1);
  protozero::pbf_writer delta(batch, 5);
  fill(delta);
  return payload;
}

template <typename Fill>
bool accepts(Fill fill, Batch& batch) {
  const std::string payload = batch_of(fill);
  const bool accepted = decode_batch(payload, batch);
  for (DeltaEntry& entry : batch.entries) entry.histogram = {};  // it points into the payload
  return accepted;
}

template <typename Fill>
bool accepts(Fill fill) {
  Batch batch;
  return accepts(fill, batch);
}

using Writer = protozero::pbf_writer;

void begin(Writer& delta, TraceType type, std::uint64_t count) {
  delta.add_uint32(Tag, 1);
  delta.add_uint32(Type, static_cast<std::uint32_t>(type));
  delta.add_uint64(Count, count);
}

TEST(Delta, IsRefusedWithoutAKnownType) {
  EXPECT_FALSE(accepts([](Writer& delta) { delta.add_uint64(Count, 1); }));
  for (const std::uint64_t type :
       {std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{1} << 32 | 1}) {
    EXPECT_FALSE(accepts([&](Writer& delta) {
      delta.add_uint64(Type, type);
      delta.add_uint64(Count, 1);
    })) << type;
  }
}

TEST(Delta, IsRefusedIfNothingHappened) {
  EXPECT_FALSE(accepts([](Writer& delta) { begin(delta, TraceType::Point, 0); }));
}

TEST(Delta, IsRefusedIfAnythingButATransactionWasAborted) {
  const auto aborted = [](TraceType type) {
    return accepts([&](Writer& delta) {
      begin(delta, type, 0);
      delta.add_uint64(Aborts, 1);
    });
  };
  EXPECT_TRUE(aborted(TraceType::Transact));
  EXPECT_FALSE(aborted(TraceType::Point));
  EXPECT_FALSE(aborted(TraceType::Observe));
  EXPECT_FALSE(aborted(TraceType::Counter));
}

TEST(Delta, IsRefusedWithMoreNonfiniteValuesThanValues) {
  for (const TraceType type : kTraceTypes) {
    EXPECT_FALSE(accepts([&](Writer& delta) {
      begin(delta, type, 2);
      delta.add_uint64(Nonfinite, 3);
    }));
  }
}

TEST(Delta, OfIncrementsIsRefusedIfTheyAreNone) {
  const auto added = [](TraceType type, double sum, std::uint64_t nonfinite, std::uint64_t count) {
    return accepts([&](Writer& delta) {
      begin(delta, type, count);
      delta.add_uint64(Nonfinite, nonfinite);
      delta.add_double(Last, 5);
      delta.add_double(Sum, sum);
      delta.add_bool(Added, true);
    });
  };
  EXPECT_TRUE(added(TraceType::Counter, 0, 0, 2));
  EXPECT_TRUE(added(TraceType::Counter, 5, 0, 2));
  EXPECT_FALSE(added(TraceType::Observe, 5, 0, 1));
  EXPECT_FALSE(added(TraceType::Counter, -1, 0, 2));
  EXPECT_FALSE(added(TraceType::Counter, kNaN, 0, 2));
  EXPECT_FALSE(added(TraceType::Counter, 5, 1, 2));
  EXPECT_TRUE(added(TraceType::Counter, kInfinity, 0, 2));
  EXPECT_FALSE(added(TraceType::Counter, kInfinity, 0, 1));
}

TEST(Delta, OfIncrementsStaysAtTheGreatestNumber) {
  Batch batch;
  ASSERT_TRUE(accepts(
      [](Writer& delta) {
        begin(delta, TraceType::Counter, 2);
        delta.add_double(Sum, kInfinity);
        delta.add_bool(Added, true);
      },
      batch));
  EXPECT_EQ(batch.entries[0].delta.sum, kGreatest);
}

TEST(Delta, IsRefusedWithExtremaThatAreNot) {
  const auto with = [](double min, double max) {
    return accepts([&](Writer& delta) {
      begin(delta, TraceType::Observe, 2);
      delta.add_double(Last, 1);
      delta.add_double(Min, min);
      delta.add_double(Max, max);
    });
  };
  EXPECT_TRUE(with(1, 1));
  EXPECT_FALSE(with(2, 1));
  EXPECT_FALSE(with(kNaN, 1));
  EXPECT_FALSE(with(1, kNaN));
  EXPECT_FALSE(with(-kInfinity, 1));
  EXPECT_FALSE(with(1, kInfinity));
}

TEST(Delta, IsRefusedIfAMissingExtremumFollowsALastValueThatIsNone) {
  EXPECT_FALSE(accepts([](Writer& delta) {
    begin(delta, TraceType::Observe, 1);
    delta.add_double(Last, kNaN);
  }));
}

TEST(Delta, IsRefusedIfItsLastValueIsNoneOfItsValues) {
  for (const TraceType type : {TraceType::Transact, TraceType::Observe}) {
    const auto with = [&](double last, std::uint64_t nonfinite) {
      return accepts([&](Writer& delta) {
        begin(delta, type, 3);
        delta.add_uint64(Nonfinite, nonfinite);
        delta.add_double(Last, last);
        delta.add_double(Sum, 3);
        delta.add_double(Min, 1);
        delta.add_double(Max, 2);
      });
    };
    EXPECT_TRUE(with(1, 0));
    EXPECT_TRUE(with(2, 2));
    EXPECT_TRUE(with(kNaN, 1));
    EXPECT_TRUE(with(kInfinity, 3));
    EXPECT_FALSE(with(0.5, 0));
    EXPECT_FALSE(with(2.5, 2));
    EXPECT_FALSE(with(kNaN, 0));
    EXPECT_FALSE(with(-kInfinity, 0));
    EXPECT_FALSE(with(1.5, 3));
  }
}

TEST(Delta, IsRefusedWithMoreCallsThanAnyProgramMakes) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 60;
  for (const TraceType type : kTraceTypes) {
    const auto with = [&](std::uint64_t count) {
      return accepts([&](Writer& delta) { begin(delta, type, count); });
    };
    EXPECT_TRUE(with(kMost));
    EXPECT_FALSE(with(kMost + 1));
    EXPECT_FALSE(with(~std::uint64_t{0}));
  }
  const auto aborted = [](std::uint64_t times) {
    return accepts([&](Writer& delta) {
      begin(delta, TraceType::Transact, 0);
      delta.add_uint64(Aborts, times);
    });
  };
  EXPECT_TRUE(aborted(kMost));
  EXPECT_FALSE(aborted(kMost + 1));
}

TEST(Delta, IsRefusedWithASumThatItsValuesCannotHave) {
  const auto with = [](double sum, double min, double max) {
    return accepts([&](Writer& delta) {
      begin(delta, TraceType::Observe, 2);
      delta.add_double(Last, max);
      delta.add_double(Sum, sum);
      delta.add_double(Min, min);
      delta.add_double(Max, max);
    });
  };
  EXPECT_FALSE(with(kNaN, -1e308, 1e308));
  EXPECT_FALSE(with(kInfinity, 1, 1e307));
  EXPECT_FALSE(with(-kInfinity, -1e307, 1));
  EXPECT_FALSE(with(-kInfinity, 1, 1e308));
  EXPECT_FALSE(with(kInfinity, -1e308, 1));
}

// Some client may add up without a check.
TEST(Delta, OfAnInfiniteSumIsUnderstoodAsTheGreatestFiniteOne) {
  for (const double value : {1e308, -1e308}) {
    Batch batch;
    ASSERT_TRUE(accepts(
        [&](Writer& delta) {
          begin(delta, TraceType::Observe, 2);
          delta.add_double(Last, value);
          delta.add_double(Sum, value * 2);
        },
        batch));
    EXPECT_EQ(batch.entries.at(0).delta.sum, std::copysign(kGreatest, value));
  }
}

TEST(Delta, KeepsASumFiniteThatWasTooGreat) {
  const Delta above = Collected{1e308, 1e308}.delta;
  EXPECT_EQ(above.sum, kGreatest);
  const Delta below = Collected{-1e308, -1e308, -1e308}.delta;
  EXPECT_EQ(below.sum, -kGreatest);
  Delta both = above;
  both.merge(above);
  EXPECT_EQ(both.sum, kGreatest);
  both.merge(below);
  EXPECT_EQ(both.sum, kGreatest);
  for (const double value : {-1e308, -1e308, 0.0}) both.add(value);
  EXPECT_EQ(both.sum, kGreatest);
  Delta late = Collected{-1e308, 5}.delta;
  late.merge(above);
  EXPECT_EQ(std::abs(late.sum), kGreatest);
  Delta known = Collected{1e308, -1e308}.delta;
  EXPECT_EQ(known.sum, 0);
}

TEST(Delta, CountsNoFurtherThanToItsGreatestCount) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  Delta part;
  part.count = part.aborts = part.nonfinite = part.unbinned = std::uint64_t{1} << 60;
  Delta all;
  for (int i = 0; i < 20; ++i) all.merge(part);
  EXPECT_EQ(all.count, kMost);
  EXPECT_EQ(all.aborts, kMost);
  EXPECT_EQ(all.nonfinite, kMost);
  EXPECT_EQ(all.unbinned, kMost);
}

TEST(Delta, IsRefusedWithAHistogramThatIsNone) {
  EXPECT_FALSE(accepts([](Writer& delta) {
    begin(delta, TraceType::Observe, 2);
    delta.add_bytes(Bins, std::string("\x00\x00", 2));
  }));
}

TEST(Delta, IsRefusedWithAHistogramOfMoreValuesThanThereAre) {
  const Collected three{1, 2, 3};
  std::string packed;
  three.histogram.pack(packed);
  const auto with = [&](std::uint64_t count, std::uint64_t nonfinite) {
    return accepts([&](Writer& delta) {
      begin(delta, TraceType::Observe, count);
      delta.add_uint64(Nonfinite, nonfinite);
      delta.add_bytes(Bins, packed);
    });
  };
  EXPECT_TRUE(with(3, 0));
  EXPECT_TRUE(with(4, 1));
  EXPECT_TRUE(with(9, 0));
  EXPECT_FALSE(with(2, 0));
  EXPECT_FALSE(with(3, 1));
}

TEST(Delta, IsRefusedWithAHistogramIfItsTypeHasNone) {
  std::string packed;
  Collected{1}.histogram.pack(packed);
  for (const TraceType type : {TraceType::Point, TraceType::Counter}) {
    EXPECT_FALSE(accepts([&](Writer& delta) {
      begin(delta, type, 1);
      delta.add_bytes(Bins, packed);
    }));
  }
}

TEST(Delta, OfAClientThatKnowsNoHistogramsIsUnderstood) {
  Batch batch;
  ASSERT_TRUE(accepts(
      [](Writer& delta) {
        begin(delta, TraceType::Transact, 3);
        delta.add_double(Last, 1);
        delta.add_double(Sum, 6);
        delta.add_double(Max, 3);
      },
      batch));
  const Delta& delta = batch.entries.at(0).delta;
  EXPECT_EQ(delta.unbinned, 3u);
  EXPECT_EQ(delta.sum, 6);
  EXPECT_EQ(delta.min, 1);
  EXPECT_EQ(delta.max, 3);
}

TEST(Delta, OfANewerClientIsUnderstood) {
  Batch batch;
  ASSERT_TRUE(accepts(
      [](Writer& delta) {
        delta.add_string(100, "new");
        begin(delta, TraceType::Counter, 3);
        delta.add_fixed32(101, 5);
        delta.add_fixed64(102, 5);
        delta.add_double(Last, 1);
        delta.add_int64(103, -1);
        delta.add_string(Aborts, "a known number with another wire type");
      },
      batch));
  EXPECT_EQ(batch.entries.at(0).delta.count, 3u);
  EXPECT_EQ(batch.entries.at(0).delta.last, 1);
}

}  // namespace
}  // namespace pcp::trace::wire
