// SPDX-License-Identifier: LGPL-2.1-or-later
// The part of Condition that reads its text.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "command/show/condition.hpp"
#include "command/show/shown.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kOperators = "<>=!";
constexpr std::string_view kForm =
    "'TAG WHAT OP NUMBER[UNIT]', as in 'checkout p99 > 50ms', 'checkout failed max > 2s' or"
    " '\"my tag\" failed% > 1'";

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

bool is_letter_of_label(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}
bool is_letter_of_what(char c) { return is_letter_of_label(c) || c == '%' || c == '/'; }

// The words of these figures, with `before_last` before the last one.
template <typename Chooses>
std::string listed_words(Chooses chooses, const char* before_last) {
  std::vector<std::string_view> words;
  for (const FigureRow& row : kFigures)
    if (!row.word.empty() && chooses(row)) words.push_back(row.word);
  std::string text;
  for (const std::string_view& word : words)
    text += (text.empty() ? "" : &word == &words.back() ? before_last : ", ") + std::string(word);
  return text;
}

struct Unit {
  std::string_view name;
  double length_s;
};
constexpr std::array kTimeUnits{
    Unit{"ns", 1e-9},   Unit{"us", 1e-6},   Unit{"µs", 1e-6},   Unit{"ms", 1e-3}, Unit{"s", 1},
    Unit{"nsec", 1e-9}, Unit{"usec", 1e-6}, Unit{"msec", 1e-3}, Unit{"sec", 1},   Unit{"min", 60}};

}  // namespace

Result<Condition> Condition::parse(const std::string& text, const Terminal& terminal) {
  Condition condition;
  condition.text_ = text;
  condition.terminal_ = terminal;
  std::string_view rest = text;
  for (const auto take : {&Condition::take_tag, &Condition::take_what, &Condition::take_label,
                          &Condition::take_operator, &Condition::take_number}) {
    skip_blanks(rest);
    if (const Result<void> taken = (condition.*take)(rest); !taken)
      return Error{"'" + printed_name(text) + "': " + taken.error().message};
  }
  return condition;
}

Result<void> Condition::take_tag(std::string_view& rest) {
  if (rest.empty()) return Error{"is empty. A condition is " + std::string(kForm)};
  Result<TagPattern> taken = TagPattern::take(rest);
  if (!taken) return taken.error();
  tag_ = *std::move(taken);
  return {};
}

Result<void> Condition::take_what(std::string_view& rest) {
  const std::string_view word = take_while(rest, is_letter_of_what);
  if (const FigureRow* const row = find_figure(word)) {
    figure_ = row->figure;
    if (figure_ != Figure::Completed && figure_ != Figure::Failed) return {};
    skip_blanks(rest);
    const std::string_view next = take_while(rest, is_letter_of_what);
    const bool has_operator = rest.empty() || kOperators.find(rest.front()) != rest.npos;
    return next.empty() && has_operator ? Result<void>()
                                        : take_figure_of(word, next.empty() ? rest : next);
  }
  if (word == "count") return Error{"'count' is 'calls' now, all of them, or 'completed'"};
  if (word == "share" || word == "max/mean") {
    about_ = word == "share" ? About::Share : About::Imbalance;
    if (about_ == About::Share && !tag_.has_labels())
      return Error{"a share needs labels, as in 'request{status=5*} share > 0.1%'"};
    return {};
  }
  return Error{
      "expected after the tag: " + listed_words([](const FigureRow&) { return true; }, ", ") +
      ", share, or max/mean by LABEL, not \"" + printed_name(word.empty() ? rest : word) + "\""};
}

Result<void> Condition::take_figure_of(std::string_view ending, std::string_view word) {
  ending_ = figure_ == Figure::Failed ? Ending::Failed : Ending::Completed;
  const auto has_ending = [](const FigureRow& row) { return row.types == kDistributions; };
  const FigureRow* const row = find_figure(word);
  if (row == nullptr || !has_ending(*row))
    return Error{"expected after '" + std::string(ending) + "': an operator, or " +
                 listed_words(has_ending, " or ") + ", not \"" + printed_name(word) + "\""};
  figure_ = row->figure;
  return {};
}

// Only an imbalance is by a label.
Result<void> Condition::take_label(std::string_view& rest) {
  if (about_ != About::Imbalance) return {};
  const std::string_view by = take_while(rest, is_letter_of_label);
  skip_blanks(rest);
  label_ = take_while(rest, is_letter_of_label);
  if (by == "by" && !label_.empty()) return {};
  return Error{"max/mean needs a label, as in 'compute max/mean by rank > 1.2'"};
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
  return Error{"expected one of < <= > >= == != before the number"};
}

Result<void> Condition::take_number(std::string_view& rest) {
  const std::string_view text = rest;
  const bool has_plus = rest.starts_with('+');
  const bool is_negative = rest.starts_with('-');
  if (has_plus) rest.remove_prefix(1);
  const auto [end, error] = std::from_chars(rest.begin(), rest.end(), number_);
  if (error != std::errc() || !std::isfinite(number_) || (has_plus && std::signbit(number_)))
    return Error{"\"" + printed_name(text) + "\" is no number"};
  rest.remove_prefix(static_cast<std::size_t>(end - rest.begin()));
  skip_blanks(rest);
  const std::string_view unit = rest.substr(0, rest.find_last_not_of(kBlanks) + 1);
  is_relative_ = unit == "%" && (has_plus || is_negative);
  if (is_relative_) return take_change(is_negative);
  if (has_plus) return Error{"a number with a sign is a change in percent, as in +20%"};
  if (ending_ && unit.empty()) return Error{"a time needs a unit: ns, us, ms, s or min"};
  return take_unit(unit);
}

Result<void> Condition::take_change(bool is_negative) const {
  if (about_ != About::Figure || row_of(figure_).compared == kNoTypes)
    return Error{
        "a change in percent is one of " +
        listed_words([](const FigureRow& row) { return row.compared != kNoTypes; }, " and ")};
  if (ending_)
    return Error{
        "a change is of the calls that the report is of: choose them with --completed or "
        "--failed"};
  const bool is_more = operator_ == Operator::Greater || operator_ == Operator::GreaterOrEqual;
  const bool is_less = operator_ == Operator::Less || operator_ == Operator::LessOrEqual;
  if (is_negative ? is_less : is_more) return {};
  return Error{"write a change in percent as > +20% or < -20%"};
}

Result<void> Condition::take_unit(std::string_view unit) {
  if (about_ == About::Share && unit != "%") return Error{"a share is in percent, as in 0.1%"};
  if (unit.empty()) return {};
  if (unit == "%" && is_percent()) return {};
  if (unit == "%" && about_ == About::Figure && figure_ == Figure::Failed && !ending_) {
    figure_ = Figure::FailedShare;
    return {};
  }
  for (const Unit& each : kTimeUnits) {
    if (unit != each.name || !may_be_time()) continue;
    number_ *= each.length_s;
    is_time_ = true;
    return {};
  }
  if (figure_ == Figure::Completed && about_ == About::Figure)
    return Error{"calls have no unit; for times write 'completed max', 'completed p99' and so on"};
  return Error{"\"" + printed_name(unit) + "\" is not a unit of it. Valid units are " +
               (may_be_time() ? "ns, us, ms, s and min" : "% of failed, and none") +
               (unit == "%" ? "; a change has a sign, as in +20%" : "")};
}

}  // namespace pcp::trace::command
