// SPDX-License-Identifier: LGPL-2.1-or-later
#include "load_batch.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <set>
#include <vector>

#include "wire/batch.hpp"

namespace pcp::trace::bench {

namespace {

TraceType type_of(std::uint32_t tag) {
  switch (tag % 10) {
    case 0:
    case 2:
    case 5:
    case 7:
      return TraceType::Transact;
    case 1:
    case 4:
    case 8:
      return TraceType::Observe;
    case 3:
    case 6:
      return TraceType::Point;
    default:
      return TraceType::Counter;
  }
}

// Rounded to few bits, so that sums of many are exact.
double rounded(double value) { return std::round(std::ldexp(value, 24)) / std::ldexp(1, 24); }

}  // namespace

LoadBatch::LoadBatch(const BatchShape& shape, int seed) {
  std::mt19937_64 random(static_cast<std::uint64_t>(seed) + 1);
  Histogram histogram;
  for (std::uint32_t tag = 0; tag < shape.tags; ++tag) {
    const TraceType type = type_of(tag);
    const double middle = std::ldexp(1e-3, static_cast<int>(tag % 12) - 3);
    std::lognormal_distribution<double> times(std::log(middle),
                                              shape.spread * (0.15 + 0.02 * (tag % 8)));
    Delta delta;
    histogram.clear();
    std::set<std::uint64_t> bins;
    const std::uint64_t events = std::max<std::uint64_t>(1, shape.events / shape.tags);
    for (std::uint64_t i = 0; i < events; ++i) {
      const double value = rounded(times(random));
      delta.add(value);
      if (!has_histogram(type)) continue;
      histogram.add(value);
      bins.insert(std::bit_cast<std::uint64_t>(value) >> 47);
    }
    wire::append_delta(body, tag + 1, type, delta, histogram);
    totals.counts[index_of(type)] += delta.count;
    totals.sums[index_of(type)] += delta.sum;
    totals.histograms += has_histogram(type) ? 1 : 0;
    totals.bins += bins.size();
  }
  totals.batches = 1;
  totals.bytes = body.size();
}

void LoadBatch::append_tags(std::string& out, std::uint32_t pid, const BatchShape& shape,
                            int owner) {
  std::vector<std::string> names;
  for (std::uint32_t tag = 0; tag < shape.tags; ++tag) {
    const std::string of = std::to_string(owner);
    const std::string number = std::to_string(tag);
    names.push_back(shape.labels ? "load." + number + "{owner=" + of + ";route=/cart}"
                                 : "load." + of + "." + number);
  }
  std::vector<wire::TagDefinition> definitions;
  for (std::uint32_t tag = 0; tag < shape.tags; ++tag) definitions.push_back({tag + 1, names[tag]});
  wire::append_tags(out, pid, definitions);
}

void LoadTotals::add(const LoadTotals& more) {
  for (const TraceType type : kTraceTypes) {
    counts[index_of(type)] += more.counts[index_of(type)];
    sums[index_of(type)] += more.sums[index_of(type)];
  }
  batches += more.batches;
  bytes += more.bytes;
  histograms += more.histograms;
  bins += more.bins;
}

std::uint64_t LoadTotals::records() const {
  std::uint64_t all = 0;
  for (const std::uint64_t count : counts) all += count;
  return all;
}

double LoadTotals::mean_bins() const {
  return histograms == 0 ? 0 : static_cast<double>(bins) / static_cast<double>(histograms);
}

const char* LoadTotals::name(TraceType type) {
  static constexpr std::array<const char*, kTraceTypes.size()> kNames{"transact", "point",
                                                                      "observe", "counter"};
  return kNames[index_of(type)];
}

}  // namespace pcp::trace::bench
