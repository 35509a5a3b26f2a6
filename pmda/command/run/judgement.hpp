// SPDX-License-Identifier: LGPL-2.1-or-later
// The chance that equal runs differ as much as two runs do.
#pragma once

#include <optional>
#include <utility>

#include "command/run/comparison.hpp"
#include "command/run/noise.hpp"

namespace pcp::trace::command {

class Judgement {
 public:
  // `per`: sums are per call of this tag. All must outlive this object.
  Judgement(const Side& before, const Side& now, const std::optional<TagKey>& per);

  bool is_over_runs() const { return is_over_runs_; }

  // Nothing: too little is known. Requires: both values are known.
  std::optional<double> chance_of(const ComparedTag& tag, Figure figure) const;

 private:
  using Estimates = std::optional<Estimate>;

  Estimates estimate(const Side& side, const ComparedTag& tag, Figure figure) const;
  static Estimates over_intervals(const Side& side, const ComparedTag& tag, Figure figure);
  Estimates over_runs(const Side& side, const Tag& tag, Figure figure) const;

  const Side& before_;
  const Side& now_;
  const std::optional<TagKey>& per_;
  bool is_over_runs_;
};

}  // namespace pcp::trace::command
