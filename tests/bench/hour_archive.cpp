// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes an archive as `pcp trace record` would, of transactions that are all called in each
// interval: all are in all samples, and their distributions each minute. As many fail as complete,
// and take the same times.
//
//   hour_archive ARCHIVE TAGS SECONDS SECONDS_BETWEEN_SAMPLES
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "collector/engine/cumulative_histogram.hpp"
#include "command/pcp/archive_writer.hpp"
#include "command/pcp/recorded_metrics.hpp"
#include "unit/command/archive_fixture.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::int64_t kBegin = 1'800'000'000;
constexpr std::int64_t kBetweenDistributions = 60;
constexpr unsigned kCalls = 10;  // of a tag between two samples
const pmID kState = pmID_build(10, 4095, 0);

Stamp stamp(std::int64_t second) { return {kBegin + second, 0}; }

int type_of(Quantity quantity) {
  if (quantity == Quantity::Calls) return PM_TYPE_U64;
  if (quantity == Quantity::Histogram) return PM_TYPE_STRING;
  const bool is_rounded =
      quantity == Quantity::Rate || quantity == Quantity::Min || quantity == Quantity::Max;
  return is_rounded ? PM_TYPE_FLOAT : PM_TYPE_DOUBLE;
}

// Durations of a few milliseconds.
double next_duration() {
  static const std::vector<double> values = [] {
    std::mt19937 random(1);
    std::lognormal_distribution<double> duration(-6, 1);
    std::vector<double> made(9973);
    for (double& each : made) each = duration(random);
    return made;
  }();
  static std::size_t next = 0;
  return values[next++ % values.size()];
}

struct Tag {
  std::uint64_t calls = 0;
  double sum = 0;
  Histogram all;
  std::array<double, kCalls> window{};  // ascending

  void call(double slowness) {
    for (double& each : window) {
      each = next_duration() * slowness;
      all.add(each);
      sum += each;
    }
    calls += kCalls;
    std::sort(window.begin(), window.end());
  }
};

// Has the type of the metric.
Reading::Value value_of(const Tag& tag, Quantity quantity, double interval_s) {
  constexpr std::array kShares{0.50, 0.90, 0.95, 0.99, 0.999};
  if (quantity == Quantity::Calls) return tag.calls;
  if (quantity == Quantity::Sum) return tag.sum;
  if (quantity == Quantity::Rate) return static_cast<float>(kCalls / interval_s);
  if (quantity == Quantity::Min) return static_cast<float>(tag.window.front());
  if (quantity == Quantity::Max) return static_cast<float>(tag.window.back());
  if (quantity == Quantity::Histogram) {
    std::string packed;
    tag.all.pack(packed);
    return agent::cumulative_histogram_text(kBegin * std::uint64_t{1'000'000'000}, tag.calls, 0,
                                            packed);
  }
  const double rank = std::ceil(kShares[percentile_of(quantity).value_or(0)] * kCalls);
  return tag.window[static_cast<std::size_t>(rank - 1)];
}

class Hour {
 public:
  Hour(ArchiveWriter& writer, int tags, std::int64_t interval)
      : writer_(writer), tags_(static_cast<std::size_t>(tags)), interval_(interval) {
    for (int i = 0; i < tags; ++i)
      names_[i] = "GET /item{number=" + std::to_string(i) + ";zone=" + std::to_string(i % 10) + "}";
    for (const RecordedQuantity& what : kRecordedQuantities)
      if (what.type == TraceType::Transact) add_metric(what);
  }

  // The first sample of a recording.
  void add_first_sample() {
    Sample none;
    for (std::size_t i = 0; i < metrics_.size(); ++i) none.push_back({id(i), PM_VAL_INSITU, {}});
    writer_.add_metric({kState, PM_TYPE_STRING, PM_INDOM_NULL, PM_SEM_DISCRETE, {}}, kStateMetric);
    writer_.add_sample(stamp(0), TextSample(kState, kBegins).sample());
    writer_.add_sample(stamp(0), none);
    writer_.add_instances(stamp(interval_), kDomain, names_);
  }

  void add_sample(std::int64_t second, bool with_distributions) {
    for (std::size_t i = 0; i < tags_.size(); ++i)
      tags_[i].call(1 + static_cast<double>(i % 100) / 10);
    Reading reading;
    for (std::size_t i = 0; i < metrics_.size(); ++i)
      if (with_distributions || metrics_[i].quantity != Quantity::Histogram)
        reading.add(id(i), values(metrics_[i].quantity, second));
    writer_.add_sample(stamp(second), reading.sample());
  }

 private:
  using Values = std::vector<std::pair<int, Reading::Value>>;

  static pmID id(std::size_t metric) { return pmID_build(10, 0, static_cast<unsigned>(metric)); }

  void add_metric(const RecordedQuantity& what) {
    pmDesc description = described(id(metrics_.size()), type_of(what.quantity),
                                   is_of_tags(what.quantity) ? kDomain : PM_INDOM_NULL);
    description.sem = only_grows(what.quantity) ? PM_SEM_COUNTER : PM_SEM_INSTANT;
    description.units = {};
    writer_.add_metric(description, what.metric);
    metrics_.push_back(what);
  }

  Values values(Quantity quantity, std::int64_t second) const {
    const auto interval = static_cast<double>(interval_);
    if (!is_of_tags(quantity))
      return {{PM_IN_NULL, quantity == Quantity::Uptime ? static_cast<double>(second) : interval}};
    Values made;
    for (const Tag& tag : tags_)
      made.emplace_back(static_cast<int>(made.size()), value_of(tag, quantity, interval));
    return made;
  }

  ArchiveWriter& writer_;
  std::vector<Tag> tags_;
  std::int64_t interval_;
  Instances names_;
  std::vector<RecordedQuantity> metrics_;
};

}  // namespace

}  // namespace pcp::trace::command

int main(int argc, char** argv) {
  using namespace pcp::trace::command;
  if (argc != 5) return EXIT_FAILURE;
  const std::int64_t seconds = std::atol(argv[3]);
  const std::int64_t interval = std::atol(argv[4]);
  auto writer = ArchiveWriter::create(argv[1], {ArchiveVersion::V3, 1, stamp(0), "saturn", "UTC"});
  if (!writer || interval <= 0) return EXIT_FAILURE;
  Hour hour(*writer, std::atoi(argv[2]), interval);
  hour.add_first_sample();
  std::int64_t distributions_at = 0;
  for (std::int64_t second = interval; second <= seconds; second += interval) {
    const bool is_last = second + interval > seconds;
    const bool with_distributions = is_last || second >= distributions_at + kBetweenDistributions;
    if (with_distributions) distributions_at = second;
    hour.add_sample(second, with_distributions);
  }
  writer->add_end(kState, std::string(kComplete));
  return writer->finish() ? EXIT_SUCCESS : EXIT_FAILURE;
}
