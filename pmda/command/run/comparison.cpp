// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/run/groups.hpp"
#include "command/run/noise.hpp"
#include "wire/dimensions.hpp"
#include "wire/histogram_codec.hpp"

namespace pcp::trace::command {

namespace {

Comparison paired(const Totals& before, const Totals& now) {
  const auto key_of = [](const Tag& tag) {
    return std::pair(tag.type, std::string_view(tag.name));
  };
  std::map<std::pair<TraceType, std::string_view>, const Tag*> older;
  for (const Tag& tag : before.tags) older.emplace(key_of(tag), &tag);
  Comparison made;
  for (const Tag& tag : now.tags) {
    const auto found = older.find(key_of(tag));
    if (found == older.end()) {
      made.only_now.push_back(&tag);
      continue;
    }
    made.tags.push_back({found->second, &tag, {}, {}});
    older.erase(found);
  }
  for (const Tag& tag : before.tags)
    if (older.contains(key_of(tag))) made.only_before.push_back(&tag);
  return made;
}

void fill(ComparedTag& tag, const Divisors& divisors) {
  for (const FigureRow& row : kFigures) {
    Difference& change = tag.changes[index_of(row.figure)];
    // Completed calls cannot be set against all calls.
    if (lacks_failed(*tag.before, row.figure) != lacks_failed(*tag.now, row.figure)) continue;
    change.before = compared_value_of(*tag.before, row.figure, divisors.before);
    change.now = compared_value_of(*tag.now, row.figure, divisors.now);
  }
  const Difference& total = tag.of(Figure::Total);
  if (total.is_known()) tag.lost_s = *total.now - *total.before;
}

bool is_great_enough(const Difference& change, Figure figure, bool is_over_runs) {
  const double least = is_percentile(figure) ? kLeastOfPercentiles : 0;
  return std::abs(*change.now - *change.before) >=
         std::abs(*change.before) * (is_over_runs ? least : std::max(kLeastChange, least));
}

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

std::optional<Estimate> over_intervals(const Side& side, const ComparedTag& tag, Figure figure) {
  const TagPieces* const its = side.pieces.find(tag.now->type, tag.now->name);
  if (its == nullptr || !varies_within_a_run(figure)) return {};
  Parts parts;
  if (figure == Figure::FailedShare) {
    for (const RunPiece& each : its->pieces) parts.push_back({each.failed, each.calls});
  } else if (figure == Figure::Mean) {
    if (may_have_nonfinite(*tag.before) || may_have_nonfinite(*tag.now)) return {};
    for (const RunPiece& each : its->pieces)
      if (const double calls = calls_with(tag.now->times_of, each.calls, each.failed); calls > 0)
        parts.push_back({each.sum, calls});
  } else {
    parts = shares_beyond((*tag.of(figure).before + *tag.of(figure).now) / 2, *its);
  }
  return ratio_of(parts);
}

// `per`: sums are per call of this tag.
std::optional<Estimate> over_runs(const Side& side, const Tag& tag, Figure figure,
                                  const std::optional<TagKey>& per) {
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
    if (per && is_sum(figure)) {
      const auto divided_by = find(*per);
      if (divided_by == run.tags.end() || divided_by->calls == 0) return {};
      divisor = divided_by->calls;
    }
    const std::optional<double> value = compared_value_of(*its, figure, divisor);
    if (!value) return {};
    values.push_back(*value);
  }
  return mean_of(values);
}

// All differences are judged together, since each of them could be a false alarm.
void judge(Comparison& comparison, const Side& before, const Side& now) {
  const auto chance_of_equal_runs = [&](const ComparedTag& tag, Figure figure) {
    const auto estimate = [&](const Side& side) {
      return comparison.is_over_runs ? over_runs(side, *tag.now, figure, comparison.divisors.tag)
                                     : over_intervals(side, tag, figure);
    };
    const auto one = estimate(before);
    const auto other = estimate(now);
    return one && other ? std::optional(chance_of(*one, *other)) : std::nullopt;
  };
  struct Judged {
    Difference* change;
    Figure figure;
    double chance;
  };
  std::vector<Judged> all;
  for (std::size_t n = 0; n < comparison.tags.size(); ++n) {
    ComparedTag& tag = comparison.tags[n];
    for (const FigureRow& row : kFigures) {
      const Figure figure = row.figure;
      Difference& change = tag.changes[index_of(figure)];
      if (!change.is_known()) continue;
      if (is_count(figure) && change.is_none()) {  // exact, so there is nothing to judge
        change.verdict = Verdict::Noise;
      } else if (const auto chance =
                     n < kJudgedTags ? chance_of_equal_runs(tag, figure) : std::nullopt) {
        change.chance = chance;
        all.push_back({&change, figure, *chance});
      }
    }
  }
  std::vector<double> chances;
  chances.reserve(all.size());
  for (const Judged& each : all) chances.push_back(each.chance);
  const double limit = limit_of(std::move(chances));
  for (const Judged& each : all)
    each.change->verdict =
        each.chance <= limit && is_great_enough(*each.change, each.figure, comparison.is_over_runs)
            ? Verdict::Real
            : Verdict::Noise;
}

}  // namespace

bool Difference::is_none() const {
  return is_known() &&
         std::abs(*now - *before) <= 1e-7 * std::max(std::abs(*now), std::abs(*before));
}

Result<Divisors> calls_of(const std::string& name, const Totals& before, const Totals& now) {
  std::vector<ComparedTag> pairs = paired(before, now).tags;
  const bool has_label_sets = std::ranges::any_of(
      pairs, [&](const ComparedTag& each) { return bare_name(each.now->name) == name; });
  std::erase_if(pairs, [&](const ComparedTag& each) { return each.now->name != name; });
  const auto found =
      std::ranges::min_element(pairs, {}, [](const ComparedTag& each) { return each.now->type; });
  if (found == pairs.end())
    return Error{std::string("no tag of this name is in both runs") +
                 (has_label_sets ? "; its label sets are: --by name adds them up" : "")};
  if (before.run.without_room + now.run.without_room > 0)
    return Error{"the agent had no room for all tags"};
  for (const Tag* const tag : {found->before, found->now}) {
    if (tag->folded)
      return Error{tag->is_folded ? "calls of label sets that had no room may count for it"
                                  : "some of its calls may count without their labels"};
    if (tag->type == TraceType::Transact && !tag->failed)
      return Error{"the number of its failed calls was not recorded"};
    if (tag->calls == 0) return Error{"it has no calls in one of the runs"};
  }
  return Divisors{found->before->calls, found->now->calls, TagKey(found->now->type, name)};
}

std::set<TagKey> tags_to_judge(const Totals& before, const Totals& now) {
  const std::vector<ComparedTag> pairs = paired(before, now).tags;
  std::set<TagKey> wanted;
  for (std::size_t i = 0; i < std::min(pairs.size(), kJudgedTags); ++i)
    wanted.emplace(pairs[i].now->type, pairs[i].now->name);
  return wanted;
}

Comparison compare(const Side& before, const Side& now, const Divisors& divisors) {
  Comparison made = paired(before.totals, now.totals);
  made.older = &before.totals.run;
  made.divisors = divisors;
  for (ComparedTag& tag : made.tags) fill(tag, divisors);
  made.is_over_runs = std::min(before.runs.size(), now.runs.size()) >= kFewestRuns;
  judge(made, before, now);
  std::ranges::stable_sort(made.tags, std::ranges::greater(),
                           [](const ComparedTag& tag) { return tag.lost_s.value_or(0); });
  return made;
}

}  // namespace pcp::trace::command
