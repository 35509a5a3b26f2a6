// SPDX-License-Identifier: LGPL-2.1-or-later
// The conditions of --fail-if, which must not be true of a run. Unknown values give the outcome
// Unknown: a check must not pass by accident.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "command/run/comparison.hpp"
#include "command/run/model.hpp"
#include "command/show/shown.hpp"
#include "command/show/tag_pattern.hpp"
#include "command/show/value_range.hpp"

namespace pcp::trace::command {

class Condition {
 public:
  // Parses 'TAG [completed|failed] WHAT OP NUMBER[UNIT]'. An error lists the valid values. Findings
  // are for this terminal.
  static Result<Condition> parse(const std::string& text, const Terminal& terminal = {});

  enum class Outcome { Passed, True, Unknown };

  // About one tag, or about the condition if no tag matches.
  struct Finding {
    Outcome outcome{};
    std::string line;
    std::string about{};    // the same without outcome and value, so equal in the next run
    bool is_noise = false;  // passed only because several runs show that the change is noise
    std::string tag{};      // the end of `about`
    std::string why{};      // the tag has this, and other tags may have it, too
    double distance = std::numeric_limits<double>::infinity();  // of a value from the number
  };

  struct Checked {
    const Totals& run;
    bool is_complete;              // else counts and maxima are lower bounds, nothing else is known
    const Comparison* comparison;  // with an older run; null: none
  };

  // One finding per matching tag, in order; or the reason why there is none.
  std::vector<Finding> check(const Checked& checked) const;

  // True if it is about the change since an older run: it needs a comparison.
  bool is_relative() const { return is_relative_; }

  const std::string& text() const { return text_; }

 private:
  // A condition is about a figure of each tag, or a value of all label sets of a name.
  enum class About { Figure, Share, Imbalance };
  enum class Operator { Less, LessOrEqual, Greater, GreaterOrEqual, Equal, NotEqual };

  Result<void> take_tag(std::string_view& rest);
  Result<void> take_what(std::string_view& rest);
  Result<void> take_figure_of(std::string_view ending, std::string_view word);
  Result<void> take_label(std::string_view& rest);
  Result<void> take_operator(std::string_view& rest);
  Result<void> take_number(std::string_view& rest);
  Result<void> take_unit(std::string_view unit);
  Result<void> take_change(bool is_negative) const;

  bool may_be_time() const;
  bool is_percent() const;
  bool applies_to(TraceType type) const;
  std::optional<ValueRange> known_without_missing(const Tag& tag) const;
  double limit() const { return is_relative_ ? 100 + number_ : number_; }  // see percent_of()
  double distance_of(const ValueRange& range) const;
  std::optional<bool> holds(const ValueRange& range) const;

  Finding finding(const Tag& tag, bool is_complete) const;
  Finding finding_of(const std::string& name, const std::optional<ValueRange>& range,
                     const std::string& shown, const std::string& why = "") const;
  Finding finding_of(const std::string& name, Outcome outcome, const std::string& shown,
                     const std::string& why = "") const;
  std::optional<ValueRange> with_folded(const std::optional<ValueRange>& range, const Tag& tag,
                                        const Tag& folded) const;
  std::vector<Finding> check_folded(const Run& run, bool is_known,
                                    const std::string& which = "") const;
  Finding unknown(const std::string& why) const;
  std::vector<Finding> check_changes(const Checked& checked) const;
  Finding change_of(const ComparedTag& tag, const Comparison& comparison) const;
  std::vector<Finding> check_shares(const Checked& checked) const;
  std::vector<Finding> check_imbalances(const Checked& checked) const;
  std::string why_none(const std::vector<Tag>& tags) const;

  std::string shown_value(double value) const;
  std::string shown_range(const ValueRange& range) const;
  std::string why_unknown(const Tag& tag) const;
  bool has_only_an_error(const Tag& tag) const;

  std::string text_;
  Terminal terminal_;
  TagPattern tag_;
  About about_{};
  Figure figure_{};               // if it is about one
  std::optional<Ending> ending_;  // of these calls; nothing: of those that the report is of
  std::string label_;             // of an imbalance
  Operator operator_{};
  double number_ = 0;  // in seconds if is_time_
  bool is_time_ = false;
  bool is_relative_ = false;
};

// "passed", "true" or "unknown".
const char* word_for(Condition::Outcome outcome);

// Has one line for the tags of a condition that are unknown for the same reason, if they are many,
// and one for a condition that all tags pass: of the tag that is nearest to the number.
std::vector<Condition::Finding> in_short(const std::vector<Condition::Finding>& findings);

}  // namespace pcp::trace::command
