// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/junit.hpp"

#include <gtest/gtest.h>

#include "unit/command/text.hpp"

namespace pcp::trace::command {
namespace {

using Outcome = Condition::Outcome;

TEST(Junit, HasATestCaseForEachFinding) {
  EXPECT_EQ(junit({{Outcome::Passed, "passed: a: x has 1", "a: x"},
                   {Outcome::Passed, "passed: n: x has 1, within noise", "n: x", true},
                   {Outcome::True, "true: b > 1: x has 2", "b > 1: x"},
                   {Outcome::Unknown, "unknown: c: no tag matches", "c"}}),
            R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4" failures="1" errors="1">
  <testsuite name="pcp-trace report" tests="4" failures="1" errors="1">
    <testcase classname="pcp-trace report" name="a: x"/>
    <testcase classname="pcp-trace report" name="n: x">
      <system-out>passed: n: x has 1, within noise</system-out>
    </testcase>
    <testcase classname="pcp-trace report" name="b &gt; 1: x">
      <failure message="true: b &gt; 1: x has 2">true: b &gt; 1: x has 2</failure>
    </testcase>
    <testcase classname="pcp-trace report" name="c">
      <error message="unknown: c: no tag matches">unknown: c: no tag matches</error>
    </testcase>
  </testsuite>
</testsuites>
)");
}

TEST(Junit, IsValidWhateverBytesThereAre) {
  EXPECT_TRUE(has(junit({{Outcome::True, "\"<&>'\x01\x1b\n\xff\xef\xbf\xbf\xef\xbf\xbeµ]]>", ""}}),
                  "message=\"&quot;&lt;&amp;&gt;'\\x01\\x1b\\x0a\\xff\\xef\\xbf\\xbf\\xef\\xbf"
                  "\\xbeµ]]&gt;\""));
}

}  // namespace
}  // namespace pcp::trace::command
