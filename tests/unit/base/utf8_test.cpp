// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/utf8.hpp"

#include <gtest/gtest.h>

namespace pcp::trace {
namespace {

using namespace std::string_view_literals;

void expect_first(std::string_view text, std::size_t bytes, char32_t number) {
  const Utf8Character first = first_character(text);
  EXPECT_EQ(first.bytes, bytes) << text;
  EXPECT_EQ(first.number, number) << text;
}

TEST(Utf8, DecodesTheFirstAndTheLastCharacterOfEachLength) {
  expect_first("\0"sv, 1, 0);
  expect_first("a\xff", 1, 'a');
  expect_first("\x7f", 1, 0x7f);
  expect_first("\xc2\x80", 2, 0x80);
  expect_first("\xdf\xbf", 2, 0x7ff);
  expect_first("\xe0\xa0\x80", 3, 0x800);
  expect_first("\xed\x9f\xbf", 3, 0xd7ff);
  expect_first("\xee\x80\x80", 3, 0xe000);
  expect_first("\xef\xbf\xbf", 3, 0xffff);
  expect_first("\xf0\x90\x80\x80", 4, 0x10000);
  expect_first("\xf4\x8f\xbf\xbf", 4, 0x10ffff);
}

TEST(Utf8, KnowsWhatIsNone) {
  for (const std::string_view text :
       {"\x80", "\xbf", "\xff",                                      // no first byte
        "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xc3(", "\xe2\x82(",    // too short
        "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf",  // overlong
        "\xed\xa0\x80", "\xed\xbf\xbf",                              // surrogates
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80"})                     // too great
    expect_first(text, 0, 0);
}

}  // namespace
}  // namespace pcp::trace
