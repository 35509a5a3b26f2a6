// SPDX-License-Identifier: LGPL-2.1-or-later
// The texts of tracing.histogram.*, which come from arbitrary hosts and archives: a text is read
// completely or not at all, and subtracting and adding again gives the same.
#include <string>

#include "collector/engine/cumulative_histogram.hpp"
#include "fuzz/input.hpp"

using namespace pcp::trace;
using fuzz::Input;
using fuzz::require;

namespace {

using pcp::trace::Histogram;
using pcp::trace::agent::cumulative_histogram_text;
using pcp::trace::agent::CumulativeHistogram;
using pcp::trace::agent::parse_cumulative_histogram;

std::string packed(const Histogram& histogram) {
  std::string out;
  histogram.pack(out);
  return out;
}

std::string text_of(const CumulativeHistogram& each) {
  return cumulative_histogram_text(each.since_ns, each.histogram.total(), each.unbinned,
                                   packed(each.histogram));
}

void check_difference(const CumulativeHistogram& newer, const CumulativeHistogram& older) {
  const CumulativeHistogram between = subtract(newer, older);
  require(between.since_ns == newer.since_ns);
  require(between.histogram.total() <= newer.histogram.total());
  if (text_of(between) == text_of(newer)) return;  // nothing was subtracted
  Histogram sum = between.histogram;
  require(sum.merge_packed(packed(older.histogram)));
  Histogram expected = newer.histogram;
  expected.coarsen_to(sum.coarseness());
  require(packed(sum) == packed(expected));
  require(between.unbinned + older.unbinned == newer.unbinned);
}

// The sum of two packed histograms minus one of them is the other.
void check_packed(Input input) {
  const std::string_view a = input.text(input.byte());
  const std::string_view b = input.rest();
  CumulativeHistogram older{7, 1, {}};
  if (!older.histogram.merge_packed(a)) return;
  CumulativeHistogram newer{7, 2, older.histogram};
  if (!newer.histogram.merge_packed(b)) return;
  check_difference(newer, older);
  require(subtract(newer, older).histogram.total() ==
          newer.histogram.total() - older.histogram.total());
}

void check_texts(Input input) {
  const std::string_view first = input.line();
  const std::string_view second = input.rest();
  const auto newer = parse_cumulative_histogram(first);
  if (newer) require(text_of(*newer) == first);
  const auto older = parse_cumulative_histogram(second);
  if (newer && older) check_difference(*newer, *older);
}

}  // namespace

void fuzz::run(Input input) {
  if (input.pick(2) == 0)
    check_packed(input);
  else
    check_texts(input);
}
