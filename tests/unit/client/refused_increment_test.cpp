// SPDX-License-Identifier: LGPL-2.1-or-later
// A wrong increment is an error. Few programs check that, so the library also prints the first one.
#include <cerrno>
#include <cmath>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "own_process.hpp"
#include "pcp/trace.h"

namespace pcp::trace {
namespace {

TEST(RefusedIncrement, IsSaidOnceWithItsTag) {
  const struct {
    std::function<int()> add;
    std::string tag_and_number;
  } refused[] = {{[] { return pmtraceadd("bytes", -1); }, "\"bytes\": -1"},
                 {[] { return pmtrace_add(pmtrace_tag("bytes"), -0.25); }, "\"bytes\": -0.25"},
                 {[] { return pmtraceadd("bytes", HUGE_VAL); }, "\"bytes\": inf"},
                 {[] { return pmtrace_add(pmtrace_tag("bytes"), NAN); }, "\"bytes\": nan"},
                 {[] { return pmtraceadd(nullptr, -1); }, "\"\": -1"},
                 {[] { return pmtrace_add(nullptr, -1); }, "\"\": -1"}};
  for (const auto& [add, tag_and_number] : refused)
    expect_said(
        [&add = add] {
          pmtracestate(PMTRACE_STATE_NONE);  // other tests switch it off
          return add() == -EINVAL && add() == -EINVAL;
        },
        "pcp_trace: " + tag_and_number +
            " was not added: an increment must be finite and not negative\n");
}

TEST(RefusedIncrement, IsSilentWhereTracingIsSwitchedOff) {
  expect_said(
      [] {
        pmtracestate(PMTRACE_STATE_NOAGENT);
        return pmtraceadd("bytes", -1) == 0;
      },
      "");
}

}  // namespace
}  // namespace pcp::trace
