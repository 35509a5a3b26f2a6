// SPDX-License-Identifier: LGPL-2.1-or-later
// The deltas in a batch: their contents, and wrong ones that are refused.
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <protozero/pbf_writer.hpp>

#include "support/histograms.hpp"
#include "unit/wire/samples.hpp"

namespace pcp::trace::wire {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kGreatest = std::numeric_limits<double>::max();

// A batch of one delta, decoded.
struct Arrival {
  explicit Arrival(const std::string& body) : pdu(pdu_of(append_batch, 1, {}, body)) {
    Batch batch;
    EXPECT_TRUE(decode_batch(payload_of(pdu), batch));
    entry = batch.entries.at(0);
  }
  Arrival(TraceType type, const Collected& collected) : Arrival(body_of(type, collected)) {}

  static std::string body_of(TraceType type, const Collected& collected) {
    std::string body;
    append_delta(body, 7, type, collected.delta, collected.histogram);
    return body;
  }

  std::string pdu;
  DeltaEntry entry;
};

void expect_equal(const Delta& a, const Delta& b) {
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.nonfinite, b.nonfinite);
  EXPECT_EQ(a.unbinned, b.unbinned);
  EXPECT_EQ(a.sum, b.sum);
  EXPECT_EQ(a.min, b.min);
  EXPECT_EQ(a.max, b.max);
  EXPECT_EQ(std::isnan(a.last), std::isnan(b.last));
  if (std::isnan(a.last)) return;
  EXPECT_EQ(a.last, b.last);
  EXPECT_EQ(std::signbit(a.last), std::signbit(b.last));
}

TEST(Delta, OfValuesKeepsEveryNumberAndTheHistogram) {
  Collected unseen{1, 2, kNaN};
  unseen.delta.add(3);
  unseen.delta.unbinned = 1;
  for (const TraceType type : {TraceType::Transact, TraceType::Observe}) {
    for (const Collected& collected :
         {Collected{0.0}, Collected{-0.0}, Collected{3.0}, Collected{1.0, 1.0}, Collected{1, 2, 3},
          Collected{3, 2, 1}, Collected{-1e300, 1e300, 1e-300}, Collected{1e308, 1e308},
          Collected{kNaN}, Collected{kInfinity, -kInfinity}, Collected{2, kNaN},
          Collected{kInfinity, 2}, Collected{1, 2, -kInfinity}, unseen}) {
      const Arrival arrival(type, collected);
      expect_equal(arrival.entry.delta, collected.delta);
      EXPECT_EQ(arrival.entry.histogram, packed(collected.histogram));
    }
  }
}

TEST(Delta, OfAPointOrACounterIsItsCountAndItsLastValue) {
  Delta point;
  point.count = 3;
  expect_equal(Arrival(TraceType::Point, {-1, -1, kNaN}).entry.delta, point);
  Delta counter;
  counter.count = 3;
  counter.nonfinite = 1;
  counter.last = 7;
  const Arrival arrival(TraceType::Counter, {5, kNaN, 7});
  expect_equal(arrival.entry.delta, counter);
  EXPECT_EQ(arrival.entry.histogram, "");
}

TEST(Delta, OfFailuresKeepsEveryNumberAndTheHistogramApart) {
  Collected unseen{0.5, 1.5};
  unseen.delta.unbinned = 1;
  unseen.delta.add(2);
  Collected untimed;  // as older libraries send them
  untimed.delta.count = untimed.delta.nonfinite = 3;
  for (const Collected& collected :
       {Collected{0.25}, Collected{3, 1, 2}, Collected{1, 1}, unseen, untimed}) {
    std::string body;
    append_failures(body, 7, collected.delta, collected.histogram);
    Arrival arrival(body);  // owns the histogram
    DeltaEntry& entry = arrival.entry;
    EXPECT_EQ(entry.type, TraceType::Transact);
    EXPECT_TRUE(entry.delta.empty());
    entry.failed.last = collected.delta.last;  // is not sent
    expect_equal(entry.failed, collected.delta);
    EXPECT_EQ(entry.failed_histogram, packed(collected.histogram));
  }
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
    const DeltaEntry entry = Arrival(body).entry;
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
  std::optional<double> failed_sum{};
  std::optional<double> failed_min{};
  std::optional<double> failed_max{};
  std::optional<std::string> failed_bins{};
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
    if (raw.failed_sum) delta.add_double(12, *raw.failed_sum);
    if (raw.failed_min) delta.add_double(13, *raw.failed_min);
    if (raw.failed_max) delta.add_double(14, *raw.failed_max);
    if (raw.failed_bins) delta.add_bytes(15, *raw.failed_bins);
  });
}

bool is_taken(const RawDelta& raw) { return decoded(raw).has_value(); }

TEST(Delta, IsRefusedIfItIsNotOfItsTypeOrIfNothingHappened) {
  for (const std::uint64_t type : {std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{1} << 32 | 1})
    EXPECT_FALSE(is_taken({.type = type, .count = 1})) << type;
  EXPECT_FALSE(is_taken({.type = kPoint, .count = 0}));
  const std::string bins = packed(Collected{1}.histogram);
  for (const std::uint64_t type : {kTransact, kPoint, kObserve, kCounter}) {
    const bool has_bins = type == kTransact || type == kObserve;
    EXPECT_EQ(is_taken({.type = type, .aborts = 1}), type == kTransact) << type;
    EXPECT_EQ(is_taken({.type = type, .count = 1, .last = 1, .bins = bins}), has_bins) << type;
    EXPECT_FALSE(is_taken({.type = type, .count = 2, .nonfinite = 3})) << type;
  }
}

TEST(Delta, IsRefusedWithFailuresThatContradictThemselves) {
  const std::string two_bins = packed(Collected{1, 2}.histogram);
  const auto failed = [](RawDelta raw) {
    raw.type = kTransact;
    return is_taken(raw);
  };
  EXPECT_TRUE(failed({.aborts = 2, .failed_sum = 3, .failed_bins = two_bins}));
  EXPECT_FALSE(failed({.aborts = 1, .failed_sum = 3, .failed_bins = two_bins}));
  EXPECT_FALSE(failed({.aborts = 2, .failed_bins = two_bins}));
  EXPECT_FALSE(failed({.aborts = 2, .failed_sum = 3, .failed_bins = "x"}));
  EXPECT_FALSE(failed({.aborts = 2, .failed_min = 1}));
  EXPECT_FALSE(failed({.aborts = 2, .failed_max = 1}));
  EXPECT_FALSE(failed({.count = 1, .last = 1, .failed_sum = 1}));
  EXPECT_FALSE(failed({.aborts = 2, .failed_sum = 3, .failed_min = 2, .failed_max = 1}));
  EXPECT_FALSE(failed({.aborts = 2, .failed_sum = kNaN, .failed_min = 1, .failed_max = 2}));
  EXPECT_FALSE(failed({.aborts = 2, .failed_sum = 3, .failed_min = kNaN, .failed_max = 2}));
  EXPECT_FALSE(failed({.aborts = 2, .failed_sum = 3, .failed_min = 1, .failed_max = kInfinity}));
}

TEST(Delta, OfIncrementsIsRefusedIfTheyAreNone) {
  const auto added = [](std::uint64_t type, std::uint64_t count, double sum,
                        std::uint64_t nonfinite = 0) {
    return decoded(
        {.type = type, .count = count, .nonfinite = nonfinite, .sum = sum, .is_added = true});
  };
  EXPECT_TRUE(added(kCounter, 2, 0));
  EXPECT_TRUE(added(kCounter, 2, 5));
  EXPECT_FALSE(added(kObserve, 1, 5));
  EXPECT_FALSE(added(kCounter, 2, -1));
  EXPECT_FALSE(added(kCounter, 2, kNaN));
  EXPECT_FALSE(added(kCounter, 2, 5, 1));
  EXPECT_EQ(added(kCounter, 2, kInfinity).value().sum, kGreatest);
  EXPECT_FALSE(added(kCounter, 1, kInfinity));
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
  EXPECT_FALSE(is_taken({.type = kObserve, .count = 1, .last = kNaN}));  // a missing one is `last`
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
  for (const double value : {1e308, -1e308}) {  // some client may add up without a check
    const auto delta = decoded({.type = kObserve, .count = 2, .last = value, .sum = value * 2});
    EXPECT_EQ(delta.value().sum, std::copysign(kGreatest, value));
  }
}

TEST(Delta, KeepsASumFiniteThatWasTooGreat) {
  const Delta above = Collected{1e308, 1e308}.delta;
  const Delta below = Collected{-1e308, -1e308, -1e308}.delta;
  EXPECT_EQ(above.sum, kGreatest);
  EXPECT_EQ(below.sum, -kGreatest);
  Delta both = above;
  for (const Delta& other : {above, below}) {
    both.merge(other);
    EXPECT_EQ(both.sum, kGreatest);
  }
  for (const double value : {-1e308, -1e308, 0.0}) both.add(value);
  EXPECT_EQ(both.sum, kGreatest);
  Delta late = Collected{-1e308, 5}.delta;
  late.merge(above);
  EXPECT_EQ(std::abs(late.sum), kGreatest);
  const Delta known = Collected{1e308, -1e308}.delta;
  EXPECT_EQ(known.sum, 0);
}

TEST(Delta, CountsNoFurtherThanToItsGreatestCount) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  Delta part;
  part.count = part.nonfinite = part.unbinned = std::uint64_t{1} << 60;
  Delta all;
  for (int i = 0; i < 20; ++i) all.merge(part);
  EXPECT_EQ(all.count, kMost);
  EXPECT_EQ(all.nonfinite, kMost);
  EXPECT_EQ(all.unbinned, kMost);
}

TEST(Delta, IsRefusedWithAHistogramThatIsNoneOrHasMoreValuesThanThereAre) {
  const std::string bins = packed(Collected{1, 2, 3}.histogram);
  const auto with = [&](std::uint64_t count, std::uint64_t nonfinite) {
    return is_taken({.type = kObserve, .count = count, .nonfinite = nonfinite, .bins = bins});
  };
  EXPECT_TRUE(with(3, 0));
  EXPECT_TRUE(with(4, 1));
  EXPECT_TRUE(with(9, 0));
  EXPECT_FALSE(with(2, 0));
  EXPECT_FALSE(with(3, 1));
  EXPECT_FALSE(is_taken({.type = kObserve, .count = 2, .bins = std::string("\x00\x00", 2)}));
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
