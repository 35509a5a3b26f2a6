// SPDX-License-Identifier: LGPL-2.1-or-later
// The part of Condition that is about more than one tag: changes since an older run, and shares of
// label sets.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "command/run/imbalance.hpp"
#include "command/run/noise.hpp"
#include "command/show/comparison.hpp"
#include "command/show/condition.hpp"
#include "wire/dimensions.hpp"
#include "wire/trace_type.hpp"

namespace pcp::trace::command {

namespace {

// The calls of a name by their labels.
struct CallsOfName {
  double matching = 0;
  double labelled = 0;
  double bare = 0;
  bool has_keys = false;
  bool has_folded = false;
  bool are_known = true;

  // Calls without labels are a total over all label sets, or calls of any label set. Their part
  // in the share is between none and, if label sets may have had no room, all of them.
  ValueRange percent() const {
    const double all = labelled + bare;
    return {100 * matching / all,
            has_folded ? 100 * (matching + bare) / all : 100 * matching / labelled};
  }
};

struct TagsOfLabel {
  std::vector<Tag> tags;
  std::map<std::pair<TraceType, std::string>, std::set<std::string>> values;  // by name
};

// The label sets that match and have the label.
TagsOfLabel tags_with(const std::string& label, const TagPattern& pattern,
                      const std::vector<Tag>& tags) {
  TagsOfLabel found;
  for (const Tag& tag : tags) {
    const auto parsed = parse_dimensions(tag.name);
    if (!parsed || !pattern.matches_name(std::string(parsed->name)) ||
        (pattern.has_labels() && !pattern.matches_labels(*parsed)))
      continue;
    const std::string* const value = parsed->find(label);
    if (value == nullptr) continue;
    found.tags.push_back(tag);
    found.values[{tag.type, std::string(parsed->name)}].insert(*value);
  }
  return found;
}

}  // namespace

std::vector<Condition::Finding> Condition::check_shares(const Checked& checked) const {
  std::map<std::pair<TraceType, std::string>, CallsOfName> all;
  const auto take = [&](const Tag& tag) -> CallsOfName* {
    const std::string name(bare_name(tag.name));
    if (!tag_.matches_name(name)) return nullptr;
    CallsOfName& calls = all[{tag.type, name}];
    if (tag.type == TraceType::Transact && !tag.failed) calls.are_known = false;
    return &calls;
  };
  for (const Tag& tag : checked.run.run.folded)
    if (CallsOfName* const calls = tag.is_folded ? take(tag) : nullptr) {
      calls->bare += tag.calls;
      calls->has_folded = true;
    }
  for (const Tag& tag : checked.run.tags) {
    CallsOfName* const calls = take(tag);
    if (calls == nullptr || tag.is_folded) continue;
    const std::optional<Dimensions> labels = parse_dimensions(tag.name);
    (labels ? calls->labelled : calls->bare) += tag.calls;
    calls->has_keys = calls->has_keys || (labels && tag_.has_keys(*labels));
    if (labels && tag_.matches_labels(*labels)) calls->matching += tag.calls;
  }
  std::vector<Finding> findings;
  for (const auto& [key, calls] : all) {
    if (!calls.has_keys && !calls.has_folded) continue;
    const bool is_known =
        checked.is_complete && calls.are_known && calls.has_keys && calls.labelled > 0;
    const std::optional<ValueRange> range =
        is_known ? std::optional(calls.percent()) : std::nullopt;
    findings.push_back(
        finding_of(key.second, range,
                   is_known ? shown_range(*range) + ", " + Shown::count(calls.matching) + " of " +
                                  Shown::count(calls.labelled + calls.bare) + " calls"
                   : !checked.is_complete ? "calls that may be missing"
                   : calls.has_folded     ? "calls that may be of label sets that had no room"
                   : calls.labelled == 0  ? "no calls"
                                          : "no count of failed calls in this recording"));
  }
  if (findings.empty())
    findings.push_back(unknown(all.empty() ? "no tag matches" : "no label set has " + tag_.keys()));
  return findings;
}

// Only label sets that the pattern matches count. Totals that are unknown, negative or all zero
// make the condition unknown.
std::vector<Condition::Finding> Condition::check_imbalances(const Checked& checked) const {
  std::vector<Finding> findings;
  const auto [matching, values] = tags_with(label_, tag_, checked.run.tags);
  const std::vector<Imbalance> all =
      tag_.has_labels() ? imbalances_of(matching) : checked.run.imbalances;
  for (const auto& of_name : values) {
    const auto& key = of_name.first;
    const bool is_known = std::ranges::any_of(all, [&](const Imbalance& each) {
      return each.label == label_ && key == std::pair(each.type, each.name);
    });
    const bool lacks_times = std::ranges::any_of(matching, [&](const Tag& tag) {
      return tag.type == key.first && bare_name(tag.name) == key.second && tag.lacks_times;
    });
    if (of_name.second.size() > 1 && !is_known)
      findings.push_back(
          finding_of(key.second, Outcome::Unknown,
                     lacks_times ? "failed calls without a duration; --completed leaves them out"
                                 : "totals that are unknown, negative or all zero"));
  }
  // Calls that lack the label may be of any value.
  std::set<std::pair<TraceType, std::string>> unknown_ones;
  for (const Tag& folded : checked.run.run.folded) {
    const auto labels = parse_dimensions(folded.name);
    const std::string name(bare_name(folded.name));
    if ((folded.is_folded || !labels || labels->find(label_) == nullptr) &&
        tag_.matches_name(name) && unknown_ones.emplace(folded.type, name).second)
      findings.push_back(finding_of(
          name, Outcome::Unknown,
          "a ratio that is not known, as " + shown_calls(folded) + " may belong to any " + label_));
  }
  for (const Imbalance& each : all) {
    if (each.label != label_ || !tag_.matches_name(each.name) ||
        unknown_ones.contains({each.type, each.name}))
      continue;
    if (!checked.is_complete) {
      findings.push_back(finding_of(each.name, Outcome::Unknown, "calls that may be missing"));
      continue;
    }
    const std::string most = label_ + " " + printed_name(each.values.front().value);
    findings.push_back(finding_of(each.name, exactly(each.ratio()),
                                  Shown::measured(each.ratio()) + ", of " + most + ", over " +
                                      Shown::counted(each.count, "value")));
  }
  if (findings.empty())
    findings.push_back(unknown("no name matches that has several values of " + label_ +
                               "; record with --split=" + label_ + ", or report --by " + label_));
  return findings;
}

std::vector<Condition::Finding> Condition::check_changes(const Checked& checked) const {
  if (checked.comparison == nullptr) return {unknown("there is no older run")};
  const Run& older = *checked.comparison->older;
  if (older.without_room > 0) return {unknown("in the older run " + no_room(older))};
  const bool lacks_older = !older.incomplete.empty();
  const std::string where = lacks_older == !checked.run.run.incomplete.empty() ? ""
                            : lacks_older                                      ? " in the older run"
                                          : " in the newer run";
  std::vector<Finding> findings;
  for (const Tag& tag : checked.run.tags) {
    if (tag.is_folded || !tag_.matches(tag.name) || !applies_to(tag.type)) continue;
    const auto& tags = checked.comparison->tags;
    const auto found = std::ranges::find(tags, &tag, &ComparedTag::now);
    if (!checked.is_complete)
      findings.push_back(
          finding_of(tag.name, Outcome::Unknown, "calls that may be missing" + where));
    else if (found == tags.end())
      findings.push_back(finding_of(tag.name, Outcome::Unknown, "no calls in the older run"));
    else
      findings.push_back(change_of(*found, *checked.comparison));
  }
  for (const auto& [run, which] :
       {std::pair(&checked.run.run, "in the newer run "), std::pair(&older, "in the older run ")})
    std::ranges::move(check_folded(*run, false, which), std::back_inserter(findings));
  for (const Tag* const tag : checked.comparison->only_before)
    if (tag_.matches(tag->name) && applies_to(tag->type))
      findings.push_back(finding_of(tag->name, Outcome::Unknown, "no calls in the newer run"));
  if (findings.empty()) findings.push_back(unknown(why_none(checked.run.tags)));
  return findings;
}

// A change within the limit passes. Beyond the limit it is true if it is hardly noise, and passes
// if it is probably noise, which only several runs can show: one run can only show that it is real.
Condition::Finding Condition::change_of(const ComparedTag& tag,
                                        const Comparison& comparison) const {
  using Named = std::pair<const char*, const Tag*>;
  const std::array runs{Named{"the older run", tag.before}, Named{"the newer run", tag.now}};
  const std::string not_known = "a change that is not known";
  for (const auto& [which, its] : runs)
    if (its->folded)
      return finding_of(
          tag.now->name, Outcome::Unknown,
          not_known + ", as in " + which + " " + shown_calls(*its->folded) + " may belong to it");
  const auto& [before, now, verdict, chance] = tag.of(figure_);
  for (const auto& [which, of_run] : runs)
    if (lacks_failed(*of_run, figure_))
      return finding_of(tag.now->name, Outcome::Unknown,
                        not_known + ", as " + which + " has no failed calls recorded");
  for (const auto& [which, of_run] : runs)
    if (!compared_value_of(*of_run, figure_, 1))
      return finding_of(tag.now->name, Outcome::Unknown,
                        not_known + ", as " + which + " has " + why_unknown(*of_run));
  const Shown shown(terminal_);
  const auto value = [&](double number) {
    return may_be_time() ? shown.value(tag.now->type, number)
                         : Shown::number(number) + (is_percent() ? "%" : "");
  };
  const std::string text =
      (*before == 0 && *now != 0 ? "a change" : shown.change(*before, *now)) + ", from " +
      value(*before) + " to " + value(*now) +
      (is_sum(figure_) ? per_what(comparison.divisors, shown, std::string::npos) : "");
  const auto finding = [&](Outcome outcome, const std::string& why = "") {
    return finding_of(tag.now->name, outcome, text + why);
  };
  // Times the product of both divisors, which is exact: a quotient is rounded.
  const auto undivided = [&](const Tag& of_run, double others_divisor) {
    std::optional<ValueRange> range = range_of(of_run, figure_);
    if (range && is_sum(figure_))
      range = {range->least * others_divisor, range->greatest * others_divisor};
    return range;
  };
  const std::optional<ValueRange> from = undivided(*tag.before, comparison.divisors.now);
  const std::optional<ValueRange> to = undivided(*tag.now, comparison.divisors.before);
  const std::optional<ValueRange> range = from && to ? percent_of(*from, *to) : std::nullopt;
  const std::optional<bool> is_beyond = range ? holds(*range) : std::nullopt;
  if (is_beyond && !*is_beyond) {
    Finding passed = finding(Outcome::Passed);
    passed.distance = distance_of(*range);
    return passed;
  }
  // Judged alone: other tags must not decide whether a gate is open.
  const bool is_judged = comparison.is_over_runs && !is_count(figure_) && chance;
  const bool is_noise = is_judged && *chance > kLeastChanceOfNoise;
  const auto is_bounded = [](const std::optional<ValueRange>& bounds) {
    return bounds && std::isfinite(bounds->least) && std::isfinite(bounds->greatest);
  };
  if (is_noise && is_bounded(from) && is_bounded(to)) {
    Finding passed = finding(Outcome::Passed, ", within noise");
    passed.is_noise = true;
    return passed;
  }
  for (const auto& [which, of_run] : runs)
    if (!is_beyond && may_have_nonfinite(*of_run))
      return finding(Outcome::Unknown, ", not counting values of " + std::string(which) + " that " +
                                           (of_run->nonfinite ? "are" : "may be") + " not finite");
  const bool are_inexact = has_only_an_error(*tag.before) && has_only_an_error(*tag.now);
  if (!is_beyond)
    return finding(Outcome::Unknown, !range        ? ", which cannot be judged"
                                     : are_inexact ? ", too near the limit to tell: a percentile "
                                                     "may be 2% off"
                                                   : ", too near the limit to tell");
  // Half of the chance: equal runs differ as often in the other direction.
  const bool is_real = comparison.is_over_runs ? is_judged && *chance / 2 <= kMostFalseAlarms
                                               : verdict == Verdict::Real;
  if (is_count(figure_) || is_real) return finding(Outcome::True);
  return finding(
      Outcome::Unknown,
      is_judged ? is_noise ? ", which cannot be judged"
                           : ", which may be noise: more runs on each side decide it"
      : comparison.is_over_runs
          ? ", which is not judged: only the " + std::to_string(kJudgedTags) +
                " tags with the most total time are, if all runs have them; --filter chooses tags"
          : "; three runs or more on each side decide it: --compare old-?.trace -- new-?.trace, "
            "with options before --compare");
}

}  // namespace pcp::trace::command
