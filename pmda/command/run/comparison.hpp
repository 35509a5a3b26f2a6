// SPDX-License-Identifier: LGPL-2.1-or-later
// Two runs side by side: for each tag of both what has changed, and whether that is more than
// noise.
//
// Runs may differ in length. So sums are compared at equal work: the older run's sums are
// multiplied by a factor, the median over the tags of calls now / calls before. A tag counts in
// this median by its share of the total time.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <vector>

#include "command/run/model.hpp"
#include "command/run/run_pieces.hpp"

namespace pcp::trace::command {

enum class Figure { Calls, Rate, Failed, Total, Mean, P50, P75, P90, P95, P99, P999, Max, Added };
inline constexpr std::array kFigureNames{"count", "rate", "failed", "total", "mean", "p50",  "p75",
                                         "p90",   "p95",  "p99",    "p999",  "max",  "added"};
inline constexpr std::size_t kFigures = kFigureNames.size();
constexpr std::size_t index_of(Figure figure) { return static_cast<std::size_t>(figure); }

// The quantile of a percentile.
std::optional<double> quantile_of(Figure figure);

// True if the figure grows with the work that a run does.
constexpr bool is_sum(Figure figure) {
  return figure == Figure::Calls || figure == Figure::Failed || figure == Figure::Total ||
         figure == Figure::Added;
}

// True if tags of this type have the figure.
constexpr bool has_figure(TraceType type, Figure figure) {
  switch (figure) {
    case Figure::Calls:
    case Figure::Rate:
      return true;
    case Figure::Failed:
    case Figure::Total:
      return type == TraceType::Transact;
    case Figure::Added:
      return type == TraceType::Counter;
    default:
      return has_histogram(type);
  }
}

// A tag's value; nothing: unknown, or not of this type.
std::optional<double> value_of(const Tag& tag, Figure figure);

// Agents give no 75th percentile; nothing: the tag has no distribution.
std::optional<double> p75_of(const Tag& tag);

enum class Verdict {
  NotJudged,  // too little is known
  Noise,      // equal runs differ as much
  Real,
};

struct Difference {
  std::optional<double> before;  // of a sum: at equal work
  std::optional<double> now;
  Verdict verdict = Verdict::NotJudged;

  bool is_known() const { return before && now; }
  bool is_real() const { return verdict == Verdict::Real; }

  // True if the values differ by no more than the rounding of sums; rates have seven digits.
  bool is_none() const;
};

struct ComparedTag {
  const Tag* before = nullptr;
  const Tag* now = nullptr;
  std::optional<double> lost_s;  // total time now, less that before at equal work
  std::array<Difference, kFigures> changes;

  const Difference& of(Figure figure) const { return changes[index_of(figure)]; }
};

struct Comparison {
  double work = 1;                // the factor for equal work
  bool is_over_runs = false;      // judged by the spread of runs, not of intervals
  std::vector<ComparedTag> tags;  // of both runs; the most lost time first
  std::vector<const Tag*> only_before;
  std::vector<const Tag*> only_now;
};

// A side of the comparison. Its tags must outlive the comparison.
struct Side {
  const Totals& totals;      // of all runs together
  RunPieces pieces{};        // of all runs together
  std::vector<Totals> runs;  // each alone, if there are several
};

// Runs are judged by their own spread if both sides have this many. Otherwise intervals decide, and
// a difference must be at least kLeastChange: intervals cannot tell how much runs differ as a
// whole.
inline constexpr std::size_t kFewestRuns = 3;
inline constexpr double kLeastChange = 0.05;

// A difference of two percentiles that may come from their bins.
inline constexpr double kLeastOfPercentiles = 0.04;

// The number of tags that are judged: those of both runs with the most total time now.
inline constexpr std::size_t kJudgedTags = 50;

// The tags that Side::runs must have.
std::set<TagKey> tags_to_judge(const Totals& before, const Totals& now);

Comparison compare(const Side& before, const Side& now);

}  // namespace pcp::trace::command
