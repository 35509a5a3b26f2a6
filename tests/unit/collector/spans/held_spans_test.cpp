// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/spans/held_spans.hpp"

#include <string>

#include <gtest/gtest.h>

namespace pcp::trace::agent {
namespace {

using namespace std::chrono_literals;

HeldSpan span_of(const std::string& user, std::uint64_t trace, std::size_t bytes = 0) {
  HeldSpan made;
  made.trace = trace;
  made.user = user;
  made.span.attributes.assign(bytes, 'x');
  return made;
}

TEST(HeldSpans, OfATraceAreTakenOnce) {
  HeldSpans held;
  const Instant now{};
  for (const std::uint64_t trace : {1u, 2u, 1u}) held.hold(span_of("alice", trace), now);
  EXPECT_EQ(held.take(1).size(), 2u);
  EXPECT_EQ(held.take(1).size(), 0u);
  EXPECT_EQ(held.take(2).size(), 1u);
}

TEST(HeldSpans, AreForgottenAfterAMinute) {
  HeldSpans held;
  const Instant now{};
  held.hold(span_of("alice", 1), now);
  held.hold(span_of("bob", 2), now + 60s);
  held.hold(span_of("bob", 3), now + 61s);
  EXPECT_EQ(held.take(1).size(), 0u);
  EXPECT_EQ(held.take(2).size(), 1u);
}

TEST(HeldSpans, WithoutRoom_TheUserWithMostLosesItsOldest) {
  HeldSpans held;
  const Instant now{};
  held.hold(span_of("alice", 1), now);
  for (std::uint64_t trace = 2; trace < 102; ++trace)
    held.hold(span_of("bob", trace, HeldSpans::kMostBytes / 50), now);
  EXPECT_EQ(held.take(1).size(), 1u);
  EXPECT_EQ(held.take(2).size(), 0u);
  EXPECT_EQ(held.take(101).size(), 1u);
}

}  // namespace
}  // namespace pcp::trace::agent
