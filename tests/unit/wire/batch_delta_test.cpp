// SPDX-License-Identifier: LGPL-2.1-or-later
// The deltas in a batch: their contents, and wrong ones that are refused.
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>

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
    const std::string pdu = pdu_of(append_batch, 1, {}, body);
    Batch batch;
    ASSERT_TRUE(decode_batch(payload_of(pdu), batch));
    const DeltaEntry& entry = batch.entries.at(0);
    EXPECT_TRUE(entry.is_added);
    EXPECT_EQ(entry.type, TraceType::Counter);
    expect_equal(entry.delta, delta);
  }
}

// From here on: deltas that our encoder does not write. Only the numbers that are set are sent.
struct RawDelta {
  std::uint64_t type = 0;
  std::uint64_t count = 0;
  std::optional<std::uint64_t> aborts{};
  std::optional<std::uint64_t> nonfinite{};
  std::optional<double> last{};
  std::optional<double> sum{};
  std::optional<double> min{};
  std::optional<double> max{};
  std::optional<std::string> bins{};
  bool is_added = false;
};

constexpr std::uint64_t number_of(TraceType type) { return static_cast<std::uint64_t>(type); }
constexpr std::uint64_t kTransact = number_of(TraceType::Transact);
constexpr std::uint64_t kPoint = number_of(TraceType::Point);
constexpr std::uint64_t kObserve = number_of(TraceType::Observe);
constexpr std::uint64_t kCounter = number_of(TraceType::Counter);
constexpr std::uint64_t kMostOfAProgram = std::uint64_t{1} << 60;

// Gives the delta as it is decoded, nothing if it is refused.
std::optional<Delta> decoded(const std::function<void(protozero::pbf_writer&)>& fill) {
  std::string payload;
  {
    protozero::pbf_writer batch(payload);
    batch.add_uint64(1, 1);
    protozero::pbf_writer delta(batch, 5);
    fill(delta);
  }
  Batch batch;
  if (!decode_batch(payload, batch)) return {};
  return batch.entries.at(0).delta;
}

std::optional<Delta> decoded(const RawDelta& raw) {
  return decoded([&](protozero::pbf_writer& delta) {
    delta.add_uint64(2, raw.type);
    delta.add_uint64(3, raw.count);
    if (raw.aborts) delta.add_uint64(4, *raw.aborts);
    if (raw.nonfinite) delta.add_uint64(5, *raw.nonfinite);
    if (raw.last) delta.add_double(6, *raw.last);
    if (raw.sum) delta.add_double(7, *raw.sum);
    if (raw.min) delta.add_double(8, *raw.min);
    if (raw.max) delta.add_double(9, *raw.max);
    if (raw.bins) delta.add_bytes(10, *raw.bins);
    if (raw.is_added) delta.add_bool(11, true);
  });
}

bool is_taken(const RawDelta& raw) { return decoded(raw).has_value(); }

TEST(Delta, IsRefusedWithoutAKnownType) {
  for (const std::uint64_t type : {std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{1} << 32 | 1})
    EXPECT_FALSE(is_taken({.type = type, .count = 1})) << type;
}

TEST(Delta, IsRefusedIfNothingHappened) { EXPECT_FALSE(is_taken({.type = kPoint, .count = 0})); }

TEST(Delta, IsRefusedIfAnythingButATransactionWasAborted) {
  EXPECT_TRUE(is_taken({.type = kTransact, .aborts = 1}));
  for (const std::uint64_t type : {kPoint, kObserve, kCounter})
    EXPECT_FALSE(is_taken({.type = type, .aborts = 1})) << type;
}

TEST(Delta, IsRefusedWithMoreNonfiniteValuesThanValues) {
  for (const std::uint64_t type : {kTransact, kPoint, kObserve, kCounter})
    EXPECT_FALSE(is_taken({.type = type, .count = 2, .nonfinite = 3})) << type;
}

TEST(Delta, OfIncrementsIsRefusedIfTheyAreNone) {
  const auto added = [](std::uint64_t type, double sum, std::uint64_t nonfinite,
                        std::uint64_t count) {
    return is_taken({.type = type,
                     .count = count,
                     .nonfinite = nonfinite,
                     .last = 5,
                     .sum = sum,
                     .is_added = true});
  };
  EXPECT_TRUE(added(kCounter, 0, 0, 2));
  EXPECT_TRUE(added(kCounter, 5, 0, 2));
  EXPECT_FALSE(added(kObserve, 5, 0, 1));
  EXPECT_FALSE(added(kCounter, -1, 0, 2));
  EXPECT_FALSE(added(kCounter, kNaN, 0, 2));
  EXPECT_FALSE(added(kCounter, 5, 1, 2));
  EXPECT_TRUE(added(kCounter, kInfinity, 0, 2));
  EXPECT_FALSE(added(kCounter, kInfinity, 0, 1));
}

TEST(Delta, OfIncrementsStaysAtTheGreatestNumber) {
  const auto delta =
      decoded({.type = kCounter, .count = 2, .sum = kInfinity, .is_added = true}).value();
  EXPECT_EQ(delta.sum, kGreatest);
}

TEST(Delta, IsRefusedWithExtremaThatAreNot) {
  const auto with = [](double min, double max) {
    return is_taken({.type = kObserve, .count = 2, .last = 1, .min = min, .max = max});
  };
  EXPECT_TRUE(with(1, 1));
  EXPECT_FALSE(with(2, 1));
  EXPECT_FALSE(with(kNaN, 1));
  EXPECT_FALSE(with(1, kNaN));
  EXPECT_FALSE(with(-kInfinity, 1));
  EXPECT_FALSE(with(1, kInfinity));
}

TEST(Delta, IsRefusedIfAMissingExtremumFollowsALastValueThatIsNone) {
  EXPECT_FALSE(is_taken({.type = kObserve, .count = 1, .last = kNaN}));
}

TEST(Delta, IsRefusedIfItsLastValueIsNoneOfItsValues) {
  for (const std::uint64_t type : {kTransact, kObserve}) {
    const auto with = [&](double last, std::uint64_t nonfinite) {
      return is_taken({.type = type,
                       .count = 3,
                       .nonfinite = nonfinite,
                       .last = last,
                       .sum = 3,
                       .min = 1,
                       .max = 2});
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
  for (const std::uint64_t type : {kTransact, kPoint, kObserve, kCounter}) {
    EXPECT_TRUE(is_taken({.type = type, .count = kMostOfAProgram}));
    EXPECT_FALSE(is_taken({.type = type, .count = kMostOfAProgram + 1}));
    EXPECT_FALSE(is_taken({.type = type, .count = ~std::uint64_t{0}}));
  }
  EXPECT_TRUE(is_taken({.type = kTransact, .aborts = kMostOfAProgram}));
  EXPECT_FALSE(is_taken({.type = kTransact, .aborts = kMostOfAProgram + 1}));
}

TEST(Delta, IsRefusedWithASumThatItsValuesCannotHave) {
  const auto with = [](double sum, double min, double max) {
    return is_taken(
        {.type = kObserve, .count = 2, .last = max, .sum = sum, .min = min, .max = max});
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
    const auto delta = decoded({.type = kObserve, .count = 2, .last = value, .sum = value * 2});
    EXPECT_EQ(delta.value().sum, std::copysign(kGreatest, value));
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
  EXPECT_FALSE(is_taken({.type = kObserve, .count = 2, .bins = std::string("\x00\x00", 2)}));
}

TEST(Delta, IsRefusedWithAHistogramOfMoreValuesThanThereAre) {
  std::string packed;
  Collected{1, 2, 3}.histogram.pack(packed);
  const auto with = [&](std::uint64_t count, std::uint64_t nonfinite) {
    return is_taken({.type = kObserve, .count = count, .nonfinite = nonfinite, .bins = packed});
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
  for (const std::uint64_t type : {kPoint, kCounter})
    EXPECT_FALSE(is_taken({.type = type, .count = 1, .bins = packed})) << type;
}

TEST(Delta, OfAClientThatKnowsNoHistogramsIsUnderstood) {
  const auto delta =
      decoded({.type = kTransact, .count = 3, .last = 1, .sum = 6, .max = 3}).value();
  EXPECT_EQ(delta.unbinned, 3u);
  EXPECT_EQ(delta.sum, 6);
  EXPECT_EQ(delta.min, 1);
  EXPECT_EQ(delta.max, 3);
}

TEST(Delta, OfANewerClientIsUnderstood) {
  const auto delta = decoded([](protozero::pbf_writer& writer) {
    writer.add_string(100, "new");
    writer.add_uint64(2, kCounter);
    writer.add_uint64(3, 3);
    writer.add_fixed32(101, 5);
    writer.add_fixed64(102, 5);
    writer.add_double(6, 1);
    writer.add_int64(103, -1);
    writer.add_string(4, "a known number with another wire type");
  });
  EXPECT_EQ(delta.value().count, 3u);
  EXPECT_EQ(delta.value().last, 1);
}

}  // namespace
}  // namespace pcp::trace::wire
