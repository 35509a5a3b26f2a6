// SPDX-License-Identifier: LGPL-2.1-or-later
// Conditions, and what becomes of them.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "command/show/condition.hpp"

namespace pcp::trace::command {

// Gives "OUTCOME: TAG has VALUE" for each tag: the lines, without the condition that each repeats.
inline std::vector<std::string> findings(const std::string& condition,
                                         const Condition::Checked& checked) {
  const Result<Condition> parsed = Condition::parse(condition);
  if (!parsed) return {parsed.error().message};
  std::vector<std::string> all;
  for (const Condition::Finding& finding : parsed->check(checked)) {
    constexpr std::array kOutcomes{"passed", "true", "unknown"};
    const std::string outcome = kOutcomes.at(static_cast<std::size_t>(finding.outcome));
    const std::string head = outcome + ": " + printed_name(condition) + ": ";
    EXPECT_EQ(finding.line.substr(0, head.size()), head);
    all.push_back(outcome + ": " + finding.line.substr(head.size()));
  }
  return all;
}

// Each finding, which may be the outcome alone, with the conditions that have it.
using Findings = std::vector<std::pair<std::string, std::vector<std::string>>>;

// Requires: each condition is about one tag.
inline void expect(const Condition::Checked& checked, const Findings& expected) {
  for (const auto& [finding, conditions] : expected)
    for (const std::string& condition : conditions) {
      const std::vector<std::string> found = findings(condition, checked);
      ASSERT_EQ(found.size(), 1U) << condition;
      const bool is_outcome = finding.find(':') == finding.npos;
      EXPECT_EQ(is_outcome ? found[0].substr(0, found[0].find(':')) : found[0], finding)
          << condition;
    }
}

}  // namespace pcp::trace::command
