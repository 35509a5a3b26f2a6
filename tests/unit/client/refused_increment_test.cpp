// SPDX-License-Identifier: LGPL-2.1-or-later
// A wrong increment is an error. Few programs check that, so the library also prints the first one.
#include <cerrno>
#include <cmath>
#include <cstdlib>

#include <gtest/gtest.h>

#include "pcp/trace.h"

namespace {

// Runs in a process of its own: each process prints the error once.
template <typename Add>
void add_twice(Add add) {
  pmtracestate(PMTRACE_STATE_NONE);  // other tests switch it off
  std::_Exit(add() == -EINVAL && add() == -EINVAL ? 7 : 0);
}

#define EXPECT_REFUSED(call, who, number)                                 \
  EXPECT_EXIT(add_twice([] { return call; }), testing::ExitedWithCode(7), \
              "^pcp_trace: \"" who "\": " number                          \
              " was not added: an increment must be finite and not negative\n$")

TEST(RefusedIncrement, IsSaidOnceWithItsTag) {
  EXPECT_REFUSED(pmtraceadd("bytes", -1), "bytes", "-1");
  EXPECT_REFUSED(pmtrace_add(pmtrace_tag("bytes"), -0.25), "bytes", "-0.25");
  EXPECT_REFUSED(pmtraceadd("bytes", HUGE_VAL), "bytes", "inf");
  EXPECT_REFUSED(pmtrace_add(pmtrace_tag("bytes"), NAN), "bytes", "nan");
  EXPECT_REFUSED(pmtraceadd(nullptr, -1), "", "-1");
  EXPECT_REFUSED(pmtrace_add(nullptr, -1), "", "-1");
}

TEST(RefusedIncrement, IsSilentWhereTracingIsSwitchedOff) {
  EXPECT_EXIT(
      {
        pmtracestate(PMTRACE_STATE_NOAGENT);
        std::_Exit(pmtraceadd("bytes", -1) == 0 ? 7 : 0);
      },
      testing::ExitedWithCode(7), "^$");
}

}  // namespace
