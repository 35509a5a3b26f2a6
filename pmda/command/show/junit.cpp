// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/junit.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/escape.hpp"
#include "base/utf8.hpp"

namespace pcp::trace::command {

namespace {

// XML has no control characters, and no U+FFFE and U+FFFF.
std::size_t stays_in_xml(std::string_view text) {
  const std::size_t bytes = stays_in_name(text);
  const char32_t number = first_character(text).number;
  return number == 0xfffe || number == 0xffff ? 0 : bytes;
}

// For an element's text and for an attribute in double quotes.
std::string in_xml(std::string_view text) {
  std::string safe;
  for (const char c : escaped(text, stays_in_xml)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string test_case(const Condition::Finding& finding) {
  std::string text =
      "    <testcase classname=\"pcp-trace report\" name=\"" + in_xml(finding.about) + "\"";
  const std::string line = in_xml(finding.line);
  if (finding.is_noise)
    return text + ">\n      <system-out>" + line + "</system-out>\n    </testcase>\n";
  if (finding.outcome == Condition::Outcome::Passed) return text + "/>\n";
  const std::string word = finding.outcome == Condition::Outcome::True ? "failure" : "error";
  return text + ">\n      <" + word + " message=\"" + line + "\">" + line + "</" + word +
         ">\n    </testcase>\n";
}

std::string number_of(const std::vector<Condition::Finding>& findings, Condition::Outcome outcome) {
  return std::to_string(std::ranges::count(findings, outcome, &Condition::Finding::outcome));
}

}  // namespace

std::string junit(const std::vector<Condition::Finding>& findings) {
  const std::string counts = " tests=\"" + std::to_string(findings.size()) + "\" failures=\"" +
                             number_of(findings, Condition::Outcome::True) + "\" errors=\"" +
                             number_of(findings, Condition::Outcome::Unknown) + "\"";
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + counts +
                     ">\n  <testsuite name=\"pcp-trace report\"" + counts + ">\n";
  for (const Condition::Finding& finding : findings) text += test_case(finding);
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace pcp::trace::command
