// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/judgement.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "command/run/equal_work.hpp"
#include "wire/histogram_codec.hpp"

namespace pcp::trace::command {

namespace {

using Parts = std::vector<Part>;

double begun(const RunPiece& piece) { return piece.calls + piece.failed; }

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

template <typename Value, typename Base>
Parts parts_of(const std::vector<RunPiece>& pieces, Value value, Base base) {
  Parts parts;
  for (const RunPiece& each : pieces)
    if (base(each) > 0) parts.push_back({value(each), base(each)});
  return parts;
}

// From all pieces of the run, against the work in the same time.
template <typename Value>
Parts parts_at_work(const TagPieces& tag, const TagPieces& measure, Value value) {
  Parts parts;
  for (std::size_t i = 0; i < tag.of_run.size(); ++i)
    parts.push_back({value(tag.of_run[i]), begun(measure.of_run[i])});
  return parts;
}

// Archives that cover the same time each count its seconds, but the run counts them once.
std::optional<Estimate> scaled(std::optional<Estimate> estimate, double value) {
  if (!estimate || estimate->value == 0) return {};
  const double factor = value / estimate->value;
  return Estimate{value, estimate->variance * factor * factor, estimate->freedom};
}

bool has_nonfinite(const Tag& tag) { return tag.nonfinite.value_or(0) > 0; }

}  // namespace

Judgement::Judgement(const Side& before, const Side& now, const ComparedTag* measure)
    : before_(before),
      now_(now),
      measure_(measure == nullptr ? nullptr : measure->now),
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
                                               Figure figure) const {
  const TagPieces* const its = side.pieces.find(tag.now->type, tag.now->name);
  if (its == nullptr) return {};
  const auto at_work = [&](double RunPiece::*sum) -> Estimates {
    const TagPieces* const work =
        measure_ == nullptr ? nullptr : side.pieces.find(measure_->type, measure_->name);
    if (work == nullptr) return {};
    return ratio_of(
        parts_at_work(*its, *work, [sum](const RunPiece& piece) { return piece.*sum; }));
  };
  const auto of_own = [&](double RunPiece::*value, auto base) {
    return ratio_of(parts_of(
        its->own, [value](const RunPiece& each) { return each.*value; }, base));
  };
  const auto is_call = [](const RunPiece& piece) { return piece.calls; };
  switch (figure) {
    case Figure::Calls:
      return at_work(&RunPiece::calls);
    case Figure::Added:
      return at_work(&RunPiece::counted);
    case Figure::Total:
      // With equal calls only the mean can differ, which does not depend on when the calls were.
      return tag.of(Figure::Calls).is_none() ? of_own(&RunPiece::sum, is_call)
                                             : at_work(&RunPiece::sum);
    case Figure::Rate:
      return scaled(ratio_of(parts_of(its->of_run, is_call,
                                      [](const RunPiece& piece) { return piece.seconds; })),
                    &side == &now_ ? *tag.of(figure).now : *tag.of(figure).before);
    case Figure::Failed:
      return of_own(&RunPiece::failed, begun);
    case Figure::Mean:
      if (has_nonfinite(*tag.before) || has_nonfinite(*tag.now)) return {};
      return of_own(&RunPiece::sum, is_call);
    case Figure::Max:
      return {};  // one value of a run has no spread
    default:
      return ratio_of(shares_beyond((*tag.of(figure).before + *tag.of(figure).now) / 2, *its));
  }
}

Judgement::Estimates Judgement::over_runs(const Side& side, const Tag& tag, Figure figure) const {
  std::vector<double> values;
  for (const Totals& run : side.runs) {
    const auto find = [&run](const Tag& wanted) -> const Tag* {
      const auto found = std::ranges::find_if(run.tags, [&](const Tag& each) {
        return each.type == wanted.type && each.name == wanted.name;
      });
      return found == run.tags.end() ? nullptr : &*found;
    };
    const Tag* const its = find(tag);
    const Tag* const work = is_sum(figure) && measure_ != nullptr ? find(*measure_) : nullptr;
    const std::optional<double> value = its == nullptr ? std::nullopt : value_of(*its, figure);
    if (!value || (is_sum(figure) && (work == nullptr || all_calls(*work) == 0))) return {};
    values.push_back(is_sum(figure) ? *value / all_calls(*work) : *value);
  }
  return mean_of(values);
}

}  // namespace pcp::trace::command
