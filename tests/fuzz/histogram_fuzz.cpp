// SPDX-License-Identifier: LGPL-2.1-or-later
// Packed histograms: every distribution has exactly one packed form, and every operation counts
// every value once.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "collector/engine/dealt_histogram.hpp"
#include "fuzz/input.hpp"
#include "wire/histogram.hpp"

using namespace pcp::trace;
using fuzz::Input;
using fuzz::require;

namespace {

using pcp::trace::DealtHistogram;
using pcp::trace::Histogram;

std::string packed(const Histogram& histogram) {
  std::string out;
  histogram.pack(out);
  return out;
}

Histogram unpacked(std::string_view bytes) {
  Histogram histogram;
  require(histogram.merge_packed(bytes));
  return histogram;
}

void check_alone(std::string_view bytes) {
  std::uint64_t total = 0;
  require(Histogram::read_packed_total(bytes, total));
  const Histogram whole = unpacked(bytes);
  require(whole.total() == total && packed(whole) == bytes);
  if (whole.empty()) return;

  double before = -HUGE_VAL;
  for (const double share : {0.0, 0.25, 0.5, 0.99, 1.0}) {
    const double value = whole.quantile(share);
    require(std::isfinite(value) && value >= before);
    before = value;
  }
}

// Each value goes to `first` or to `second`.
void check_dealt(std::string_view bytes, double share) {
  DealtHistogram values(bytes);
  const std::uint64_t total = values.total();
  const auto until = static_cast<std::uint64_t>(static_cast<double>(total) * share);
  Histogram first;
  Histogram second;
  require(values.deal(until, first) && values.deal(total, second));
  require(values.left() == 0 && first.total() + second.total() == total);
  require(unpacked(packed(first)).total() == first.total());

  DealtHistogram again(bytes);
  Histogram sum;
  require(again.deal(until, sum) && again.deal(total, sum));
  require(packed(sum) == bytes);
}

// The sum is the same in each order, packed or not.
void check_sum(std::string_view a, std::string_view b) {
  Histogram sum = unpacked(a);
  const std::uint64_t total = sum.total() + unpacked(b).total();
  const std::string before = packed(sum);
  if (!sum.merge_packed(b)) {
    require(total > Histogram::kMaxTotal && packed(sum) == before);
    return;
  }
  require(sum.total() == total && total <= Histogram::kMaxTotal);

  Histogram backwards = unpacked(b);
  backwards.merge(unpacked(a));
  require(packed(backwards) == packed(sum));

  Histogram coarse = unpacked(a);
  Histogram coarse_sum = sum;
  coarse_sum.coarsen();
  while (coarse.coarseness() < coarse_sum.coarseness()) coarse.coarsen();
  require(coarse.merge_packed(b));
  require(packed(coarse) == packed(coarse_sum));
  check_alone(packed(coarse_sum));
}

void check_packed(Input input) {
  const double share = input.byte() / 255.0;
  const std::string_view a = input.text(input.byte());
  const std::string_view b = input.rest();
  Histogram untouched;
  untouched.add(1);
  const std::string before = packed(untouched);
  for (const std::string_view bytes : {a, b}) {
    std::uint64_t total = 0;
    if (Histogram::read_packed_total(bytes, total)) continue;
    require(!untouched.merge_packed(bytes));
    require(packed(untouched) == before);
    return;
  }
  check_alone(a);
  check_dealt(a, share);
  check_sum(a, b);
}

// Arbitrary recorded values: all quantiles are within the promised error.
void check_values(Input input) {
  Histogram histogram;
  std::vector<double> values;
  while (!input.empty()) {
    const double value = input.real();
    if (!std::isfinite(value)) continue;
    histogram.add(value);
    values.push_back(value);
  }
  if (values.empty()) return;
  check_alone(packed(histogram));
  require(histogram.total() == values.size());
  std::sort(values.begin(), values.end());
  for (const double share : {0.0, 0.1, 0.5, 0.9, 1.0}) {
    const double rank = std::ceil(share * static_cast<double>(values.size()));
    const double exact = values[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
    const double found = histogram.quantile(share);
    if (std::isnormal(exact))
      require(std::abs(found - exact) <= 0.016 * std::abs(exact));
    else
      require(found == 0);
  }
}

}  // namespace

void fuzz::run(Input input) {
  if (input.pick(4) == 0)
    check_values(input);
  else
    check_packed(input);
}
