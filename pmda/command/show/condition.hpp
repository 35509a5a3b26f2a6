// SPDX-License-Identifier: LGPL-2.1-or-later
// The conditions of --fail-if, which must not be true of a run. Unknown values give the outcome
// Unknown: a check must not pass by accident.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "command/run/model.hpp"

namespace pcp::trace::command {

class Condition {
 public:
  // Parses 'TAG WHAT OP NUMBER[UNIT]'. An error lists the valid values.
  static Result<Condition> parse(const std::string& text);

  enum class Outcome { Passed, Broken, Unknown };

  // About one tag, or about the condition if no tag matches.
  struct Finding {
    Outcome outcome{};
    std::string line;
  };

  // One finding per matching tag, in order; or the reason why there is none. If calls may be
  // missing, counts and maxima are lower bounds, and nothing else is known.
  std::vector<Finding> check(const std::vector<Tag>& tags, bool are_complete) const;

 private:
  enum class What { Count, Rate, Failed, FailedShare, Vanished, Mean, Percentile, Max };
  enum class Operator { Less, LessOrEqual, Greater, GreaterOrEqual, Equal, NotEqual };

  // The bounds of a value; equal if the value is known.
  struct Range {
    double least;
    double greatest;
  };

  Result<void> take_tag(std::string_view& rest);
  Result<void> take_what(std::string_view& rest);
  Result<void> take_operator(std::string_view& rest);
  Result<void> take_number(std::string_view& rest);

  bool matches(const Tag& tag) const;
  bool is_of_transactions() const;
  bool applies_to(TraceType type) const;
  std::optional<Range> value_of(const Tag& tag) const;
  std::optional<Range> percentile_of(const Tag& tag) const;
  std::optional<Range> known_without_missing(const Tag& tag) const;
  std::optional<bool> holds(const Range& range) const;
  Finding finding(const Tag& tag, bool is_complete) const;
  std::string shown_value(double value) const;
  std::string shown_range(const Range& range) const;
  std::string why_unknown(const Tag& tag) const;

  std::string text_;
  std::string tag_;
  bool is_glob_ = false;
  What what_{};
  std::size_t percentile_ = 0;
  Operator operator_{};
  double number_ = 0;  // in seconds if is_time_
  bool is_time_ = false;
};

}  // namespace pcp::trace::command
