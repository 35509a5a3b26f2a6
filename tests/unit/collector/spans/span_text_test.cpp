// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/spans/span_text.hpp"

#include <gtest/gtest.h>

namespace pcp::trace::agent {
namespace {

TEST(SpanText, HasIdsInHexadecimal) {
  EXPECT_STREQ(hex_of(0).data(), "0000000000000000");
  EXPECT_STREQ(hex_of(0x0123456789abcdef).data(), "0123456789abcdef");
  EXPECT_STREQ(hex_of(0xf, 0xe).data(), "000000000000000f000000000000000e");
}

TEST(SpanText, HasABlankBetweenAttributesAndNowhereElse) {
  std::string text;
  EXPECT_TRUE(append_attribute(text, "route", "/cart"));
  EXPECT_TRUE(append_attribute(text, "a=b c", "d=e f\\g\n\xc3\xa9\xff"));
  EXPECT_EQ(text, "route=/cart a\\x3db\\x20c=d=e\\x20f\\x5cg\\x0a\xc3\xa9\\xff");
}

TEST(SpanText, TellsNumbersFromTextsThatReadAsOne) {
  std::string text;
  append_attribute(text, "rows", 12.0);
  append_attribute(text, "rate", 0.1);
  append_attribute(text, "text", "12");
  append_attribute(text, "other", "1e999");
  append_attribute(text, "word", "inf");
  append_attribute(text, "version", "12a");
  append_attribute(text, "none", "");
  EXPECT_EQ(text, "rows=12 rate=0.1 text=\\x312 other=\\x31e999 word=\\x69nf version=12a none=");
}

TEST(SpanText, LeavesOutAnAttributeThatHasNoRoom) {
  std::string text;
  EXPECT_TRUE(append_attribute(text, "a", std::string(kMostAttributeBytes - 100, 'x')));
  const std::string before = text;
  EXPECT_FALSE(append_attribute(text, "b", std::string(100, 'x')));
  EXPECT_EQ(text, before);
  EXPECT_TRUE(append_attribute(text, "c", "short"));
}

TEST(SpanText, HasLinksAsTraceAndSpan) {
  std::string text;
  append_link(text, 1, 2, 3);
  append_link(text, 4, 5, 6);
  EXPECT_EQ(text,
            "00000000000000010000000000000002-0000000000000003 "
            "00000000000000040000000000000005-0000000000000006");
}

}  // namespace
}  // namespace pcp::trace::agent
