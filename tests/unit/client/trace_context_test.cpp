// SPDX-License-Identifier: LGPL-2.1-or-later
#include "spans/trace_context.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace pcp::trace::client {
namespace {

const std::string kTrace = "0af7651916cd43dd8448eb211c80319c";
const std::string kSpan = "b7ad6b7169203331";
const std::string kIds = kTrace + "-" + kSpan;
constexpr TraceContext kContext{0x0af7651916cd43dd, 0x8448eb211c80319c, 0, 0xb7ad6b7169203331,
                                kCameInFlag};

std::string written(const TraceContext& context) { return write_traceparent(context).data(); }

// The header that goes out for the one that came in; empty if that was invalid.
std::string passed_on(const std::string& header) {
  const auto context = parse_traceparent(header);
  return context ? written(*context) : "";
}

std::string of(std::size_t count, char c) { return std::string(count, c); }

TEST(Traceparent, IsReadAndWritten) {
  EXPECT_EQ(parse_traceparent("00-" + kIds + "-00"), kContext);
  EXPECT_EQ(written(kContext), "00-" + kIds + "-00");
  EXPECT_EQ(written({1, 2, 0, 3, 3}), "00-00000000000000010000000000000002-0000000000000003-03");
}

TEST(Traceparent, NamesTheInnermost) {
  EXPECT_EQ(written({1, 2, 4, 3}), "00-00000000000000010000000000000002-0000000000000004-00");
  TraceContext outer{1, 2, 4, 3, 1 | kCameInFlag};
  outer.set_capture_bits(7);
  outer.set_state(9);
  TraceContext inner{1, 2, 0, 4, 1};
  inner.set_capture_bits(7);
  inner.set_state(9);
  EXPECT_EQ(outer.inside(), inner);
  EXPECT_EQ(inner.inside(), inner);
}

TEST(TraceContexts, TellAParentInAnotherProcess) {
  TraceContext came_in{1, 2, 0, 3, kCameInFlag};  // without an id of its own: it is not captured
  EXPECT_TRUE(came_in.is_parent_elsewhere());
  EXPECT_TRUE(came_in.inside().is_parent_elsewhere());
  EXPECT_TRUE(came_in.inside().inside().is_parent_elsewhere());
  came_in.own = 4;
  EXPECT_FALSE(came_in.inside().is_parent_elsewhere());
}

TEST(TraceContexts, HaveRoomForAllOfEach) {
  TraceContext context{1, 2, 4, 3};
  const auto expect = [&](std::uint64_t flags, std::uint32_t bits, std::uint32_t state) {
    EXPECT_EQ(context.flags(), flags);
    EXPECT_EQ(context.capture_bits(), bits);
    EXPECT_EQ(context.state(), state);
  };
  context.set_capture_bits(UINT32_MAX);
  expect(0, UINT32_MAX, 0);
  context.set_state(Tracestates::kLast);
  expect(0, UINT32_MAX, Tracestates::kLast);
  context.set_flags(255);
  context.set_capture_bits(0);
  expect(255, 0, Tracestates::kLast);
  context.set_state(0);
  expect(255, 0, 0);
}

TEST(Traceparent, GoesOutInTheFirstVersionWithTheFlagsThatAreKnown) {
  const std::string any_bits = of(32, 'f') + "-" + of(16, 'f');
  const std::string sampled = "00-" + kIds + "-01";
  const std::pair<std::string, std::string> passed[] = {
      {"00-" + kIds + "-00", "00-" + kIds + "-00"},
      {sampled, sampled},
      {"00-" + kIds + "-02", "00-" + kIds + "-02"},
      {"00-" + kIds + "-03", "00-" + kIds + "-03"},
      {"00-" + kIds + "-ff", "00-" + kIds + "-03"},
      {"00-" + kIds + "-08", "00-" + kIds + "-00"},
      {" \t" + sampled + " \t", sampled},
      {"01-" + kIds + "-01", sampled},
      {"01-" + kIds + "-01-extra", sampled},
      {"cc-" + kIds + "-01-", sampled},
      {"00-" + any_bits + "-00", "00-" + any_bits + "-00"}};
  for (const auto& [header, out] : passed) EXPECT_EQ(passed_on(header), out) << header;
}

TEST(Traceparent, IsNotValidOtherwise) {
  for (const std::string& header : {std::string(),
                                    std::string("00"),
                                    "00-" + kIds,
                                    "00-" + kIds + "-",
                                    "00-" + kIds + "-1",
                                    "00-" + kIds + "-001",
                                    "00-" + kIds + "-0A",
                                    "00-" + kIds + "-01-",
                                    "00-" + kIds + "-01-extra",
                                    "cc-" + kIds + "-01.extra",
                                    "ff-" + kIds + "-01",
                                    "0-" + kIds + "-01",
                                    "000-" + kIds + "-01",
                                    "00-0AF7651916CD43DD8448EB211C80319C-" + kSpan + "-01",
                                    "00-" + kTrace + "-B7AD6B7169203331-01",
                                    "00-" + of(32, '0') + "-" + kSpan + "-01",
                                    "00-" + kTrace + "-" + of(16, '0') + "-01",
                                    "00-" + kTrace.substr(1) + "-" + kSpan + "-01",
                                    "00-" + kTrace + "0-" + kSpan + "-01",
                                    "00-" + kIds + "0-01",
                                    "00_" + kIds + "-01",
                                    "00-" + kTrace + "_" + kSpan + "-01",
                                    "00-" + kIds + "-01,00-" + kIds + "-01",
                                    "00-" + kIds + "-0g"})
    EXPECT_EQ(parse_traceparent(header), std::nullopt) << header;
}

}  // namespace
}  // namespace pcp::trace::client
