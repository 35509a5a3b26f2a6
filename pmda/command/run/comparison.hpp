// SPDX-License-Identifier: LGPL-2.1-or-later
// Two runs side by side: for each tag of both what has changed, and whether that is more than
// noise.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "command/run/figures.hpp"
#include "command/run/model.hpp"
#include "command/run/run_pieces.hpp"

namespace pcp::trace::command {

enum class Verdict {
  NotJudged,  // too little is known
  Noise,      // equal runs differ as much
  Real,
};

struct Difference {
  std::optional<double> before;  // a sum is divided
  std::optional<double> now;
  Verdict verdict = Verdict::NotJudged;  // together with all other differences
  std::optional<double> chance{};        // that equal runs differ as much

  bool is_known() const { return before && now; }
  bool is_real() const { return verdict == Verdict::Real; }

  // True if the values differ by no more than the rounding of sums; rates have seven digits.
  bool is_none() const;
};

struct ComparedTag {
  const Tag* before = nullptr;
  const Tag* now = nullptr;
  std::optional<double> lost_s;  // the divided total time now, less that before
  std::array<Difference, kFigureCount> changes;

  const Difference& of(Figure figure) const { return changes[index_of(figure)]; }
};

// The sums of both runs are divided by these.
struct Divisors {
  double before = 1;
  double now = 1;
  std::optional<TagKey> tag{};  // these are its calls; nothing: they are numbers of runs

  bool are_one() const { return !tag && before == 1 && now == 1; }
};

struct Comparison {
  const Run* older = nullptr;
  Divisors divisors;
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

// Runs are judged by their own spread if both sides have this many. Otherwise intervals can only
// show that a difference is real, and it must be at least kLeastChange: intervals cannot tell how
// much runs differ as a whole.
inline constexpr std::size_t kFewestRuns = 3;
inline constexpr double kLeastChange = 0.05;

// A difference of two percentiles that may come from their bins.
inline constexpr double kLeastOfPercentiles = 0.04;

// The number of tags that are judged: those of both runs with the most total time now.
inline constexpr std::size_t kJudgedTags = 50;

// The calls of the tag with this name; of several, the transaction's. An error if the number is
// unknown or zero in a run.
Result<Divisors> calls_of(const std::string& name, const Totals& before, const Totals& now);

// The tags that Side::runs must have, beside the one of the divisors.
std::set<TagKey> tags_to_judge(const Totals& before, const Totals& now);

Comparison compare(const Side& before, const Side& now, const Divisors& divisors = {});

}  // namespace pcp::trace::command
