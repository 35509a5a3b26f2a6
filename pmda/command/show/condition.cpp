// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/condition.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "command/show/model_json.hpp"
#include "command/show/shown.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kForm =
    "'TAG WHAT OP NUMBER[UNIT]', as in 'checkout p99 > 50ms' or '\"my tag\" failed% > 1'";

void skip_blanks(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
}

template <typename Belongs>
std::string_view take_while(std::string_view& rest, Belongs belongs) {
  const auto end = std::find_if_not(rest.begin(), rest.end(), belongs);
  const std::string_view taken = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  rest.remove_prefix(taken.size());
  return taken;
}

bool is_letter_of_what(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '%';
}

struct Unit {
  std::string_view name;
  double length_s;
};
constexpr std::array kTimeUnits{
    Unit{"ns", 1e-9},   Unit{"us", 1e-6},   Unit{"µs", 1e-6},   Unit{"ms", 1e-3}, Unit{"s", 1},
    Unit{"nsec", 1e-9}, Unit{"usec", 1e-6}, Unit{"msec", 1e-3}, Unit{"sec", 1},   Unit{"min", 60}};

// For log lines: without anything that a terminal interprets.
std::string shown_name(const std::string& name) {
  return Shown(Terminal{true, false, 80}).name(name, std::numeric_limits<std::size_t>::max());
}

}  // namespace

Result<Condition> Condition::parse(const std::string& text) {
  Condition condition;
  condition.text_ = text;
  std::string_view rest = text;
  for (const auto take : {&Condition::take_tag, &Condition::take_what, &Condition::take_operator,
                          &Condition::take_number}) {
    skip_blanks(rest);
    if (const Result<void> taken = (condition.*take)(rest); !taken)
      return Error{"'" + shown_name(text) + "': " + taken.error().message};
  }
  return condition;
}

Result<void> Condition::take_tag(std::string_view& rest) {
  if (!rest.starts_with('"')) {
    is_glob_ = true;
    tag_ = take_while(rest, [](char c) { return kBlanks.find(c) == kBlanks.npos; });
    if (tag_.empty()) return Error{"is empty. A condition is " + std::string(kForm)};
    return {};
  }
  rest.remove_prefix(1);
  while (!rest.empty() && !rest.starts_with('"')) {
    if (rest.starts_with('\\') && rest.size() > 1) rest.remove_prefix(1);
    tag_ += rest.front();
    rest.remove_prefix(1);
  }
  if (rest.empty()) return Error{"the tag's second quotation mark is missing"};
  rest.remove_prefix(1);
  return {};
}

Result<void> Condition::take_what(std::string_view& rest) {
  struct Word {
    std::string_view name;
    What what;
  };
  constexpr std::array kWords{Word{"count", What::Count},      Word{"rate", What::Rate},
                              Word{"failed", What::Failed},    Word{"failed%", What::FailedShare},
                              Word{"mean", What::Mean},        Word{"max", What::Max},
                              Word{"vanished", What::Vanished}};
  const std::string_view word = take_while(rest, is_letter_of_what);
  for (const Word& each : kWords) {
    if (word != each.name) continue;
    what_ = each.what;
    return {};
  }
  for (std::size_t i = 0; i < kPercentileNames.size(); ++i) {
    if (word != kPercentileNames[i]) continue;
    what_ = What::Percentile;
    percentile_ = i;
    return {};
  }
  return Error{
      "after the tag comes count, rate, failed, failed%, mean, p50, p90, p95, p99, p999, "
      "max or vanished, not \"" +
      shown_name(std::string(word.empty() ? rest : word)) + "\""};
}

Result<void> Condition::take_operator(std::string_view& rest) {
  struct Sign {
    std::string_view text;
    Operator meaning;
  };
  constexpr std::array kSigns{
      Sign{"<=", Operator::LessOrEqual}, Sign{">=", Operator::GreaterOrEqual},
      Sign{"==", Operator::Equal},       Sign{"!=", Operator::NotEqual},
      Sign{"<", Operator::Less},         Sign{">", Operator::Greater}};
  for (const Sign& sign : kSigns) {
    if (!rest.starts_with(sign.text)) continue;
    operator_ = sign.meaning;
    rest.remove_prefix(sign.text.size());
    return {};
  }
  return Error{"before the number comes one of < <= > >= == !="};
}

Result<void> Condition::take_number(std::string_view& rest) {
  const auto [end, error] = std::from_chars(rest.begin(), rest.end(), number_);
  if (error != std::errc() || !std::isfinite(number_))
    return Error{"\"" + shown_name(std::string(rest)) + "\" is no number"};
  rest.remove_prefix(static_cast<std::size_t>(end - rest.begin()));
  skip_blanks(rest);
  const std::string_view unit = rest.substr(0, rest.find_last_not_of(kBlanks) + 1);
  if (unit.empty()) return {};
  if (unit == "%" && (what_ == What::Failed || what_ == What::FailedShare)) {
    what_ = What::FailedShare;
    return {};
  }
  const bool may_be_time = what_ == What::Mean || what_ == What::Percentile || what_ == What::Max;
  for (const Unit& each : kTimeUnits) {
    if (unit != each.name || !may_be_time) continue;
    number_ *= each.length_s;
    is_time_ = true;
    return {};
  }
  return Error{"\"" + shown_name(std::string(unit)) + "\" is no unit of it. Valid are " +
               (may_be_time ? "ns, us, ms, s and min" : "% of failed, and none")};
}

// A backslash in a pattern escapes. Tags need not be valid text of this locale.
bool Condition::matches(const Tag& tag) const {
  return is_glob_ ? ::fnmatch(tag_.c_str(), tag.name.c_str(), 0) == 0 : tag_ == tag.name;
}

bool Condition::is_of_transactions() const {
  return what_ == What::Failed || what_ == What::FailedShare || what_ == What::Vanished;
}

// With a time unit the values are of transactions, without one of observations.
bool Condition::applies_to(TraceType type) const {
  if (what_ == What::Count || what_ == What::Rate) return true;
  return type == (is_time_ || is_of_transactions() ? TraceType::Transact : TraceType::Observe);
}

std::vector<Condition::Finding> Condition::check(const std::vector<Tag>& tags,
                                                 bool are_complete) const {
  std::vector<Finding> findings;
  bool has_matched = false;
  for (const Tag& tag : tags) {
    if (!matches(tag)) continue;
    has_matched = true;
    if (applies_to(tag.type)) findings.push_back(finding(tag, are_complete));
  }
  if (!findings.empty()) return findings;
  std::string why = "no tag matches";
  // A tag with labels is another tag, with the labels in its name.
  const auto begins_so = [this](const Tag& tag) { return tag.name.starts_with(tag_); };
  if (!has_matched && std::any_of(tags.begin(), tags.end(), begins_so))
    why += "; some begin so: " + shown_name(tag_) + "*";
  if (has_matched)
    why = is_of_transactions() ? "no transaction matches"
          : is_time_ ? "no transaction matches; of observations there are no units of time"
                     : "no observation matches; for a transaction give a unit: ns, us, ms, s, min";
  return {{Outcome::Unknown, "unknown: " + shown_name(text_) + ": " + why}};
}

Condition::Finding Condition::finding(const Tag& tag, bool is_complete) const {
  const std::string what = shown_name(text_) + ": " + shown_name(tag.name) + " has ";
  const std::optional<Range> range = is_complete ? value_of(tag) : known_without_missing(tag);
  if (!range)
    return {Outcome::Unknown,
            "unknown: " + what + (is_complete ? why_unknown(tag) : "calls that may be missing")};
  const std::optional<bool> is_met = holds(*range);
  if (!is_met) return {Outcome::Unknown, "unknown: " + what + shown_range(*range)};
  return {*is_met ? Outcome::Broken : Outcome::Passed,
          (*is_met ? "broken: " : "passed: ") + what + shown_range(*range)};
}

// Counts and maxima can only grow by missing calls; nothing else is known.
std::optional<Condition::Range> Condition::known_without_missing(const Tag& tag) const {
  const bool only_grows = what_ == What::Count || what_ == What::Failed ||
                          what_ == What::Vanished || what_ == What::Max;
  std::optional<Range> range = only_grows ? value_of(tag) : std::nullopt;
  if (range) range->greatest = std::numeric_limits<double>::infinity();
  return range;
}

// The range of the percentile: a bin of the distribution, for any values of the missing calls.
std::optional<Condition::Range> Condition::percentile_of(const Tag& tag) const {
  constexpr double kError = 0.02;  // of an agent's own percentile
  const std::optional<double>& value = tag.percentiles[percentile_];
  if (!value) return {};
  Range range{*value - kError * std::abs(*value), *value + kError * std::abs(*value)};
  if (is_of_histogram(tag.percentile_source)) {
    const auto binned = static_cast<double>(tag.distribution->total());
    const bool are_all_counted = tag.percentile_source != PercentileSource::WholeIntervals;
    const double missing = are_all_counted ? std::max(tag.calls - binned, 0.0) : 0;
    const double rank = kPercentiles[percentile_] * (binned + missing);
    const auto edges_at = [&](double rank_of_binned) {
      return tag.distribution->quantile_edges(missing == 0 ? kPercentiles[percentile_]
                                                           : rank_of_binned / binned);
    };
    range.least =
        rank > missing ? edges_at(rank - missing).least : -std::numeric_limits<double>::infinity();
    range.greatest = missing == 0 || rank <= binned ? edges_at(rank).greatest
                                                    : std::numeric_limits<double>::infinity();
  }
  if (tag.min && tag.min->is_exact) range.least = std::max(range.least, tag.min->value);
  if (tag.max && tag.max->is_exact) range.greatest = std::min(range.greatest, tag.max->value);
  range.greatest = std::max(range.least, range.greatest);  // extremes have only seven digits
  return range;
}

// No call's value is greater. Infinite ones are in no distribution.
static double most_of(const Tag& tag) {
  const bool has_all = tag.percentile_source == PercentileSource::Histogram;
  return has_all && tag.nonfinite.value_or(0) == 0 ? tag.distribution->quantile_edges(1).greatest
                                                   : std::numeric_limits<double>::infinity();
}

std::optional<Condition::Range> Condition::value_of(const Tag& tag) const {
  const auto known = [](const std::optional<double>& value) -> std::optional<Range> {
    if (!value) return {};
    return Range{*value, *value};
  };
  switch (what_) {
    case What::Count:
      return known(tag.calls);
    case What::Rate:
      return known(tag.rate);
    case What::Failed:
      return known(tag.failed);
    case What::FailedShare:
      if (!tag.failed || *tag.failed + tag.calls == 0) return {};
      return known(*tag.failed / (*tag.failed + tag.calls) * 100);
    case What::Mean:
      if (tag.nonfinite.value_or(0) > 0) return {};
      return known(tag.mean);
    case What::Vanished:
      return known(tag.vanished);
    case What::Percentile:
      return percentile_of(tag);
    case What::Max:
      if (!tag.max) return {};
      if (tag.max->is_exact) return known(tag.max->value);
      return Range{tag.max->value, most_of(tag)};
  }
  return {};
}

// Nothing if the condition holds for only some values of the range.
std::optional<bool> Condition::holds(const Range& range) const {
  const auto [least, greatest] = range;
  const auto decide = [](bool for_all, bool for_some) -> std::optional<bool> {
    if (for_all == for_some) return for_all;
    return {};
  };
  const bool is_number = least == number_ && greatest == number_;
  const bool may_be_number = least <= number_ && number_ <= greatest;
  switch (operator_) {
    case Operator::Less:
      return decide(greatest < number_, least < number_);
    case Operator::LessOrEqual:
      return decide(greatest <= number_, least <= number_);
    case Operator::Greater:
      return decide(least > number_, greatest > number_);
    case Operator::GreaterOrEqual:
      return decide(least >= number_, greatest >= number_);
    case Operator::Equal:
      return decide(is_number, may_be_number);
    case Operator::NotEqual:
      return decide(!may_be_number, !is_number);
  }
  return {};
}

std::string Condition::shown_value(double value) const {
  if (is_time_) return Shown(Terminal{false, false, 80}).duration(value);
  return Shown::number(value) + (what_ == What::FailedShare ? "%" : "");
}

std::string Condition::shown_range(const Range& range) const {
  if (std::isinf(range.least) && std::isinf(range.greatest)) return "values that are not known";
  const std::string greatest = shown_value(range.greatest);
  if (std::isinf(range.least)) return "at most " + greatest;
  const std::string least = shown_value(range.least);
  if (std::isinf(range.greatest)) return "at least " + least;
  return least == greatest ? least : least + " to " + greatest;
}

std::string Condition::why_unknown(const Tag& tag) const {
  if (tag.calls == 0) return "no calls";
  if (what_ == What::Mean && tag.nonfinite.value_or(0) > 0) return "values that are not finite";
  if (what_ != What::Percentile) return "no such value in this recording";
  return words_for(tag.percentile_source).why_none;
}

}  // namespace pcp::trace::command
