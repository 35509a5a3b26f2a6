// SPDX-License-Identifier: LGPL-2.1-or-later
// Batches of a busy program, made in advance, so that sending them costs little.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "wire/trace_type.hpp"

namespace pcp::trace::bench {

// The totals of batches.
struct LoadTotals {
  std::array<std::uint64_t, kTraceTypes.size()> counts{};
  std::array<double, kTraceTypes.size()> sums{};  // times and observations; exact
  std::uint64_t batches = 0;
  std::uint64_t bytes = 0;
  std::uint64_t histograms = 0;
  std::uint64_t bins = 0;  // occupied bins of all histograms together

  void add(const LoadTotals& more);
  std::uint64_t records() const;
  double mean_bins() const;
  static const char* name(TraceType type);
};

struct BatchShape {
  std::uint32_t tags = 100;
  std::uint64_t events = 100'000;
  double spread = 1;    // of the times, on their logarithmic scale
  bool labels = false;  // tags have two labels, one of them their owner
};

// Four of ten tags are transactions, three observations, two points, and one is a counter; each has
// the same number of events. Times are log-normal, most of them within 30% of their tag's middle.
struct LoadBatch {
  // `seed`: batches with different seeds differ in their values.
  LoadBatch(const BatchShape& shape, int seed);

  // Appends the TAGS PDU for batches of this shape. `owner`: not 0 gives the names a suffix of
  // their own.
  static void append_tags(std::string& out, std::uint32_t pid, const BatchShape& shape, int owner);

  std::string body;
  LoadTotals totals;
};

}  // namespace pcp::trace::bench
