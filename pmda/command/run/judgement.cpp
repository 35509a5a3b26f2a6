// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/judgement.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "wire/histogram_codec.hpp"

namespace pcp::trace::command {

namespace {

using Parts = std::vector<Part>;

// How many values are greater than this one.
double greater_than(double limit, const Histogram& histogram) {
  std::string packed;
  histogram.pack(packed);
  double greater = 0;
  for_each_packed_bin(packed, [&](std::int32_t bin, std::uint64_t count) {
    if (bins::middle_of(bin, histogram.coarseness()) > limit) greater += static_cast<double>(count);
  });
  return greater;
}

// A percentile is judged by the share of values beyond a limit between both percentiles. The share
// has no jumps where a distribution has gaps.
Parts shares_beyond(double limit, const TagPieces& tag) {
  Parts parts;
  for (const TimedHistogram& each : tag.histograms)
    parts.push_back({greater_than(limit, each.values), static_cast<double>(each.values.total())});
  return parts;
}

}  // namespace

Judgement::Judgement(const Side& before, const Side& now, const std::optional<TagKey>& per)
    : before_(before),
      now_(now),
      per_(per),
      is_over_runs_(std::min(before.runs.size(), now.runs.size()) >= kFewestRuns) {}

std::optional<double> Judgement::chance_of(const ComparedTag& tag, Figure figure) const {
  const Estimates one = estimate(before_, tag, figure);
  const Estimates other = estimate(now_, tag, figure);
  if (!one || !other) return {};
  return command::chance_of(*one, *other);
}

Judgement::Estimates Judgement::estimate(const Side& side, const ComparedTag& tag,
                                         Figure figure) const {
  return is_over_runs_ ? over_runs(side, *tag.now, figure) : over_intervals(side, tag, figure);
}

Judgement::Estimates Judgement::over_intervals(const Side& side, const ComparedTag& tag,
                                               Figure figure) {
  const TagPieces* const its = side.pieces.find(tag.now->type, tag.now->name);
  if (its == nullptr || !varies_within_a_run(figure)) return {};
  Parts parts;
  if (figure == Figure::FailedShare) {
    for (const RunPiece& each : its->pieces)
      parts.push_back({each.failed, each.calls + each.failed});
  } else if (figure == Figure::Mean) {
    if (may_have_nonfinite(*tag.before) || may_have_nonfinite(*tag.now)) return {};
    for (const RunPiece& each : its->pieces)
      if (each.calls > 0) parts.push_back({each.sum, each.calls});
  } else {
    parts = shares_beyond((*tag.of(figure).before + *tag.of(figure).now) / 2, *its);
  }
  return ratio_of(parts);
}

Judgement::Estimates Judgement::over_runs(const Side& side, const Tag& tag, Figure figure) const {
  std::vector<double> values;
  for (const Totals& run : side.runs) {
    const auto find = [&run](const TagKey& key) {
      return std::ranges::find_if(run.tags, [&](const Tag& each) {
        return each.type == key.first && each.name == key.second;
      });
    };
    const auto its = find({tag.type, tag.name});
    if (its == run.tags.end()) return {};
    double divisor = 1;
    if (per_ && is_sum(figure)) {
      const auto per = find(*per_);
      if (per == run.tags.end() || all_calls(*per) == 0) return {};
      divisor = all_calls(*per);
    }
    const std::optional<double> value = compared_value_of(*its, figure, divisor);
    if (!value) return {};
    values.push_back(*value);
  }
  return mean_of(values);
}

}  // namespace pcp::trace::command
