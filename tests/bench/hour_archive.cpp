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
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "collector/engine/cumulative_histogram.hpp"
#include "command/pcp/archive_writer.hpp"
#include "command/pcp/recorded_metrics.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::int64_t kBegin = 1'800'000'000;
constexpr std::int64_t kBetweenDistributions = 60;
constexpr unsigned kCalls = 10;  // of a tag between two samples
const pmInDom kDomain = pmInDom_build(10, 0);
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

double value_of(const Tag& tag, Quantity quantity, double interval_s) {
  constexpr std::array kShares{0.50, 0.90, 0.95, 0.99, 0.999};
  if (quantity == Quantity::Sum) return tag.sum;
  if (quantity == Quantity::Rate) return kCalls / interval_s;
  if (quantity == Quantity::Min) return tag.window.front();
  if (quantity == Quantity::Max) return tag.window.back();
  return tag.window[static_cast<std::size_t>(
      std::ceil(kShares[percentile_of(quantity).value_or(0)] * kCalls) - 1)];
}

// The values of one metric, and their memory.
class Values {
 public:
  explicit Values(pmID metric) : set_{metric, PM_VAL_DPTR, {}} {}

  void add(int instance, int type, const void* bytes, std::size_t length) {
    // Blocks lie at multiples of four.
    const std::size_t size = PM_VAL_HDR_SIZE + length;
    starts_.push_back(memory_.size());
    memory_.resize(memory_.size() + (size + 3) / 4);
    auto* const block = reinterpret_cast<pmValueBlock*>(&memory_[starts_.back()]);
    block->vtype = static_cast<unsigned>(type) & 0xff;
    block->vlen = static_cast<unsigned>(size) & 0xffffff;
    std::memcpy(block->vbuf, bytes, length);
    set_.values.emplace_back().inst = instance;
  }

  // Valid until values are added.
  MetricValues finished() {
    for (std::size_t i = 0; i < starts_.size(); ++i)
      set_.values[i].value.pval = reinterpret_cast<pmValueBlock*>(&memory_[starts_[i]]);
    return set_;
  }

 private:
  MetricValues set_;
  std::vector<std::uint32_t> memory_;
  std::vector<std::size_t> starts_;
};

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
    std::vector<Values> all;
    for (std::size_t i = 0; i < metrics_.size(); ++i)
      if (with_distributions || metrics_[i].quantity != Quantity::Histogram)
        all.push_back(values(i, second));
    Sample sample;
    for (Values& each : all) sample.push_back(each.finished());
    writer_.add_sample(stamp(second), sample);
  }

 private:
  static pmID id(std::size_t metric) { return pmID_build(10, 0, static_cast<unsigned>(metric)); }

  void add_metric(const RecordedQuantity& what) {
    pmDesc description{};
    description.pmid = id(metrics_.size());
    description.type = type_of(what.quantity);
    description.indom = is_of_tags(what.quantity) ? kDomain : PM_INDOM_NULL;
    description.sem = only_grows(what.quantity) ? PM_SEM_COUNTER : PM_SEM_INSTANT;
    writer_.add_metric(description, what.metric);
    metrics_.push_back(what);
  }

  Values values(std::size_t metric, std::int64_t second) const {
    const Quantity quantity = metrics_[metric].quantity;
    Values made(id(metric));
    if (is_of_tags(quantity)) {
      for (std::size_t i = 0; i < tags_.size(); ++i)
        add(made, static_cast<int>(i), tags_[i], quantity);
    } else {
      const auto fact = static_cast<double>(quantity == Quantity::Uptime ? second : interval_);
      made.add(PM_IN_NULL, PM_TYPE_DOUBLE, &fact, sizeof fact);
    }
    return made;
  }

  void add(Values& made, int instance, const Tag& tag, Quantity quantity) const {
    const int type = type_of(quantity);
    if (type == PM_TYPE_STRING) {
      std::string packed;
      tag.all.pack(packed);
      const std::string text = agent::cumulative_histogram_text(
          kBegin * std::uint64_t{1'000'000'000}, tag.calls, 0, packed);
      return made.add(instance, type, text.c_str(), text.size() + 1);
    }
    if (type == PM_TYPE_U64) return made.add(instance, type, &tag.calls, sizeof tag.calls);
    const double value = value_of(tag, quantity, static_cast<double>(interval_));
    if (type == PM_TYPE_DOUBLE) return made.add(instance, type, &value, sizeof value);
    const auto rounded = static_cast<float>(value);
    made.add(instance, type, &rounded, sizeof rounded);
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
