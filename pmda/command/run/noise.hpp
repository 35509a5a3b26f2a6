// SPDX-License-Identifier: LGPL-2.1-or-later
// Tells a difference between two runs from noise: the difference that equal runs also show.
//
// A figure of a run is a ratio of two sums, such as time / calls. The spread of a run's intervals
// says how far the figure may be off. Neighbouring intervals of a run are alike: several slow
// seconds often follow each other. So the run is also cut into a few long stretches. If they differ
// more than neighbouring intervals explain, there is a slow drift, which also differs between runs.
// Several runs on each side need none of this: their own spread is enough.
// The test is Welch's, for two samples with different variances.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace pcp::trace::command {

inline constexpr std::size_t kStretches = 6;
inline constexpr std::size_t kFewestParts = 10;

// The share of signs that may be wrong. Among equal runs it is the share of comparisons with any
// sign at all.
inline constexpr double kMostFalseAlarms = 0.05;

// A condition takes a change for noise only if equal runs differ as much more often than not: few
// runs do not show that there is no change.
inline constexpr double kLeastChanceOfNoise = 0.5;

// An interval's part of the two sums of a ratio.
struct Part {
  double value = 0;
  double base = 0;
};

struct Estimate {
  double value = 0;
  double variance = 0;  // of `value`
  double freedom = 1;   // the degrees of freedom of `variance`
};

// The ratio of the sums. Parts are in the order of time. Nothing: fewer than kFewestParts parts, or
// the base is zero.
std::optional<Estimate> ratio_of(std::span<const Part> parts);

// The mean of a figure over several runs. Nothing: fewer than two.
std::optional<Estimate> mean_of(std::span<const double> runs);

// The probability that equal runs show a difference as great as this.
double chance_of(const Estimate& one, const Estimate& other);

// The greatest chance that still counts as real, if all of these are judged together (Benjamini and
// Hochberg). Negative: none is real.
double limit_of(std::vector<double> chances);

}  // namespace pcp::trace::command
