// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/condition.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "command/run/groups.hpp"
#include "command/show/model_json.hpp"
#include "wire/dimensions.hpp"

namespace pcp::trace::command {

namespace {

constexpr const char* kNotKnown = "a value that is not known";

std::string how_to_add_up(const Tag& tag, const std::vector<Tag>& tags) {
  if (!may_have_got_labels(tag, tags)) return "";
  std::string keys;
  for (const Dimension& label : parse_dimensions(tag.name).value_or(Dimensions{}).labels)
    keys.append(keys.empty() ? "" : ",").append(label.key);
  return "; --by " + (keys.empty() ? "name" : keys) + " adds those that ended with more labels";
}

std::string condition_of(const Condition::Finding& finding) {
  return finding.about.substr(0, finding.about.size() - finding.tag.size());
}

// The tags that pass a condition, but for those with noise.
struct Passed {
  const Condition::Finding* nearest = nullptr;
  std::size_t count = 0;
  bool by_all = true;

  void take(const Condition::Finding& finding) {
    by_all = by_all && finding.outcome == Condition::Outcome::Passed;
    if (finding.is_noise) return;
    ++count;
    if (nearest == nullptr || finding.distance < nearest->distance) nearest = &finding;
  }

  std::string others() const {
    if (count == 1) return "";
    return "; " + Shown::counted(count - 1, "more tag") + (count == 2 ? " is" : " are") +
           " not nearer to the limit";
  }
};

}  // namespace

const char* word_for(Condition::Outcome outcome) {
  constexpr std::array kNames{"passed", "true", "unknown"};
  return kNames[static_cast<std::size_t>(outcome)];
}

std::vector<Condition::Finding> in_short(const std::vector<Condition::Finding>& findings) {
  constexpr std::size_t kMostNamed = 3;
  using Finding = Condition::Finding;
  const auto reason_of = [](const Finding& of) { return std::pair(condition_of(of), of.why); };
  std::map<std::pair<std::string, std::string>, std::vector<const Finding*>> unknown;
  std::map<std::string, Passed> passed;
  for (const Finding& each : findings) {
    passed[condition_of(each)].take(each);
    if (each.outcome == Condition::Outcome::Unknown && !each.why.empty())
      unknown[reason_of(each)].push_back(&each);
  }
  std::vector<Finding> all;
  for (const Finding& each : findings) {
    if (each.outcome == Condition::Outcome::Passed && !each.is_noise) {
      const Passed& its = passed[condition_of(each)];
      if (its.by_all && &each == its.nearest) all.emplace_back(each).line += its.others();
      continue;
    }
    const auto& same = unknown[reason_of(each)];
    const bool are_many = each.outcome == Condition::Outcome::Unknown && same.size() > kMostNamed;
    if (are_many && &each != same.front()) continue;
    Finding& shown = all.emplace_back(each);
    if (!are_many) continue;
    const auto& [condition, why] = reason_of(each);
    shown.line = "unknown: " + condition;
    for (std::size_t i = 0; i < kMostNamed; ++i) shown.line += (i > 0 ? ", " : "") + same[i]->tag;
    shown.line +=
        " and " + Shown::counted(same.size() - kMostNamed, "more tag") + " each have " + why;
  }
  return all;
}

// Durations and observed values.
bool Condition::may_be_time() const {
  return about_ == About::Figure && row_of(figure_).types == kDistributions;
}

bool Condition::is_percent() const {
  return about_ == About::Share || (about_ == About::Figure && figure_ == Figure::FailedShare);
}

// With a time unit the values are of transactions, without one of observations. A change has no
// unit.
bool Condition::applies_to(TraceType type) const {
  if (is_relative_) return is_compared(type, figure_);
  if (ending_) return type == TraceType::Transact;
  if (may_be_time()) return type == (is_time_ ? TraceType::Transact : TraceType::Observe);
  return has_figure(type, figure_);
}

std::vector<Condition::Finding> Condition::check(const Checked& checked) const {
  if (checked.run.run.without_room > 0)
    return {unknown((is_relative_ ? "in the newer run " : "") + no_room(checked.run.run))};
  if (is_relative_) return check_changes(checked);
  if (about_ == About::Share) return check_shares(checked);
  if (about_ == About::Imbalance) return check_imbalances(checked);
  std::vector<Finding> findings;
  for (const Tag& tag : checked.run.tags)
    if (!tag.is_folded && tag_.matches(tag.name) && applies_to(tag.type)) {
      Finding& its = findings.emplace_back(finding(tag, checked.is_complete));
      if (its.outcome != Outcome::Unknown || !checked.is_complete || tag.calls > 0) continue;
      const std::string how = how_to_add_up(tag, checked.run.tags);
      its.line += how;
      its.why += how;
    }
  // A label set that is nowhere may be misspelt, also if folded calls could be its own.
  if (std::ranges::none_of(checked.run.tags, [this](const Tag& tag) {
        return tag_.matches(tag.name) && applies_to(tag.type);
      }))
    findings.push_back(unknown(why_none(checked.run.tags)));
  std::ranges::move(check_folded(checked.run.run, checked.is_complete),
                    std::back_inserter(findings));
  return findings;
}

Condition::Finding Condition::unknown(const std::string& why) const {
  return {Outcome::Unknown, "unknown: " + printed_name(text_) + ": " + why, printed_name(text_)};
}

std::string Condition::why_none(const std::vector<Tag>& tags) const {
  const auto matches = [this](const Tag& tag) { return tag_.matches(tag.name); };
  // A tag with labels is another tag, with the labels in its name.
  const auto begins_so = [this](const Tag& tag) { return tag.name.starts_with(tag_.text()); };
  const auto is_its_set = [this](const Tag& tag) {
    return tag.name != tag_.text() && bare_name(tag.name) == tag_.text();
  };
  const auto has_its_keys = [this](const Tag& tag) {
    const std::optional<Dimensions> labels = parse_dimensions(tag.name);
    return tag_.has_labels() && labels && tag_.matches_name(std::string(labels->name)) &&
           tag_.has_keys(*labels);
  };
  if (std::ranges::none_of(tags, matches)) {
    const std::string text = printed_name(tag_.text());
    if (std::ranges::any_of(tags, is_its_set))
      return "no tag matches; " + text + "* matches each label set; --by name adds them up";
    if (std::ranges::any_of(tags, begins_so)) return "no tag matches; some begin so: " + text + "*";
    return std::ranges::any_of(tags, has_its_keys)
               ? "no label set matches; a share, as in share > 0%, is 0% then"
               : "no tag matches";
  }
  if (figure_ == Figure::Added) return "no counter matches";
  if (figure_ == Figure::Last) return "no observation or counter matches";
  if (row_of(figure_).types == kTransactions) return "no transaction matches";
  if (is_relative_) return "no tag that matches has this value in a comparison";
  return is_time_ ? "no transaction matches; time units apply to transactions only"
                  : "no observation matches; for a transaction give a unit: ns, us, ms, s, min";
}

Condition::Finding Condition::finding(const Tag& tag, bool has_all) const {
  if (ending_ && tag.times_of != ending_) return finding(with_times_of(tag, *ending_), has_all);
  const bool is_complete = has_all && !lacks_failed(tag, figure_);
  if (is_complete && ending_ == Ending::Failed && tag.failed == 0.0 && !tag.folded)
    return finding_of(tag.name, Outcome::Passed, "no failed calls");
  std::optional<ValueRange> range =
      is_complete ? range_of(tag, figure_) : known_without_missing(tag);
  std::string shown = range      ? shown_range(*range)
                      : !has_all ? "calls that may be missing"
                      : is_complete || !value_of(tag, figure_)
                          ? why_unknown(tag)
                          : "failed calls that were not recorded";
  if (range && is_complete && !holds(*range) && has_only_an_error(tag))
    shown += ", as a percentile may be 2% off";
  if (!tag.folded) return finding_of(tag.name, range, shown);
  const std::string why = ", as " + shown_calls(*tag.folded) + " may belong to it";
  if (!range) return finding_of(tag.name, range, valued_calls(tag) == 0 ? kNotKnown + why : shown);
  range = with_folded(range, tag, *tag.folded);
  return finding_of(tag.name, range, (range ? shown_range(*range) : kNotKnown) + why,
                    kNotKnown + why);
}

// For tags that perhaps have no calls of their own, and for label sets that had no room. Perhaps
// there are none, so the condition is true of none.
std::vector<Condition::Finding> Condition::check_folded(const Run& run, bool is_known,
                                                        const std::string& which) const {
  std::vector<Finding> findings;
  for (const Tag& tag : run.folded) {
    if (!tag.is_folded || !applies_to(tag.type) ||
        !tag_.may_match_sets_of(std::string(bare_name(tag.name))))
      continue;
    const auto range = is_known ? with_folded({}, {}, *tag.folded) : std::nullopt;
    const std::string why =
        ", as " + which + shown_calls(*tag.folded) + " may be of label sets that had no room";
    findings.push_back(
        finding_of(tag.name, range && holds(*range) == false ? Outcome::Passed : Outcome::Unknown,
                   (range ? shown_range(*range) : kNotKnown) + why, kNotKnown + why));
  }
  return findings;
}

// The range for all calls of a tag if any of the folded calls may be its own, or, without a range,
// of a tag that has no others. Nothing: any value is possible.
std::optional<ValueRange> Condition::with_folded(const std::optional<ValueRange>& range,
                                                 const Tag& tag, const Tag& folded) const {
  if (ending_ && folded.times_of != ending_)
    return with_folded(range, tag, with_times_of(folded, *ending_));
  if (lacks_failed(folded, figure_)) return {};
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto [least, greatest] = range.value_or(ValueRange{0, 0});
  const auto up_to = [&, low = least, high = greatest](const std::optional<double>& more) {
    return ValueRange{low, high + more.value_or(kInfinity)};
  };
  const ValueRange mixed = mixed_with(range.value_or(ValueRange{kInfinity, -kInfinity}), folded);
  switch (figure_) {
    case Figure::Calls:
    case Figure::Rate:
    case Figure::Completed:
    case Figure::Failed:
    case Figure::Vanished:
      return up_to(value_of(folded, figure_));
    case Figure::FailedShare:
      return range ? failed_percent_with(tag, folded)
                   : ValueRange{0, folded.failed == 0.0 ? 0.0 : 100.0};
    case Figure::Total:
      if (is_time_) return up_to(folded.sum);
      return {};
    case Figure::Min:
      return ValueRange{mixed.least, range ? greatest : mixed.greatest};
    case Figure::Max:
      return ValueRange{range ? least : mixed.least, mixed.greatest};
    default:
      if (figure_ == Figure::Mean || is_percentile(figure_)) return mixed;
      return {};
  }
}

Condition::Finding Condition::finding_of(const std::string& name,
                                         const std::optional<ValueRange>& range,
                                         const std::string& shown, const std::string& why) const {
  const std::optional<bool> is_met = range ? holds(*range) : std::nullopt;
  Finding its = finding_of(name,
                           !is_met   ? Outcome::Unknown
                           : *is_met ? Outcome::True
                                     : Outcome::Passed,
                           shown, why);
  if (range) its.distance = distance_of(*range);
  return its;
}

// `why`: the reason why the value is unknown, without the value. Empty: as shown.
Condition::Finding Condition::finding_of(const std::string& name, Outcome outcome,
                                         const std::string& shown, const std::string& why) const {
  const std::string tag = printed_name(name);
  const std::string about = printed_name(text_) + ": " + tag;
  return {outcome, std::string(word_for(outcome)) + ": " + about + " has " + shown,
          about,   false,
          tag,     why.empty() ? shown : why};
}

// Counts and extremes can only grow by missing calls; nothing else is known. A transaction counts
// as vanished if its end is missing.
std::optional<ValueRange> Condition::known_without_missing(const Tag& tag) const {
  const bool only_grows = figure_ == Figure::Calls || figure_ == Figure::Completed ||
                          figure_ == Figure::Failed || figure_ == Figure::Max ||
                          (figure_ == Figure::Total && is_time_);
  if (!only_grows && figure_ != Figure::Min) return {};
  std::optional<ValueRange> range = range_of(tag, figure_);
  if (!range) return {};
  if (only_grows)
    range->greatest = std::numeric_limits<double>::infinity();
  else
    range->least = -std::numeric_limits<double>::infinity();
  return range;
}

double Condition::distance_of(const ValueRange& range) const {
  return std::max({range.least - limit(), limit() - range.greatest, 0.0});
}

// Nothing if the condition holds for only some values of the range.
std::optional<bool> Condition::holds(const ValueRange& range) const {
  const auto [least, greatest] = range;
  const double number = limit();
  const auto decide = [](bool for_all, bool for_some) -> std::optional<bool> {
    if (for_all == for_some) return for_all;
    return {};
  };
  const bool is_number = least == number && greatest == number;
  const bool may_be_number = least <= number && number <= greatest;
  switch (operator_) {
    case Operator::Less:
      return decide(greatest < number, least < number);
    case Operator::LessOrEqual:
      return decide(greatest <= number, least <= number);
    case Operator::Greater:
      return decide(least > number, greatest > number);
    case Operator::GreaterOrEqual:
      return decide(least >= number, greatest >= number);
    case Operator::Equal:
      return decide(is_number, may_be_number);
    case Operator::NotEqual:
      return decide(!may_be_number, !is_number);
  }
  return {};
}

std::string Condition::shown_value(double value) const {
  if (is_time_) return Shown(terminal_).duration(value);
  return Shown::number(value) + (is_percent() ? "%" : "");
}

std::string Condition::shown_range(const ValueRange& range) const {
  if (std::isinf(range.least) && std::isinf(range.greatest)) return "values that are not known";
  const std::string greatest = shown_value(range.greatest);
  if (std::isinf(range.least)) return "at most " + greatest;
  const std::string least = shown_value(range.least);
  if (std::isinf(range.greatest)) return "at least " + least;
  return least == greatest ? least : least + " to " + greatest;
}

// True if nothing but the error of a percentile makes its value a range.
bool Condition::has_only_an_error(const Tag& tag) const {
  return is_percentile(figure_) && !may_have_nonfinite(tag) &&
         (tag.percentile_source == PercentileSource::Histogram ||
          tag.percentile_source == PercentileSource::OneWindow);
}

std::string Condition::why_unknown(const Tag& tag) const {
  if (valued_calls(tag) == 0 && lacks_failed(tag, figure_))
    return "failed calls that were not recorded";
  if (valued_calls(tag) == 0)
    return !tag.times_of                     ? "no calls"
           : *tag.times_of == Ending::Failed ? "no failed calls"
                                             : "no completed calls";
  if (tag.lacks_times && may_be_time())
    return std::string("failed calls without a duration") +
           (tag.times_of ? "" : "; --completed leaves them out");
  if (figure_ == Figure::Added && tag.counted && !added_to(tag))
    return "no additions, or only those of 0; for values that were set there is 'value'";
  if ((figure_ == Figure::Mean || figure_ == Figure::Total) && may_have_nonfinite(tag))
    return tag.nonfinite ? "values that are not finite"
                         : "values that may not be finite: the archive has no " +
                               std::string("trace.observe.nonfinite");
  if (!is_percentile(figure_)) return "no such value in this recording";
  if (figure_ == Figure::P75 && tag.percentile_source == PercentileSource::OneWindow)
    return "no p75 in this recording";
  return words_for(tag.percentile_source).why_none;
}

}  // namespace pcp::trace::command
