// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wire/glob.hpp"

#include <fnmatch.h>

#include <random>
#include <span>

#include <gtest/gtest.h>

#include "support/error_of.hpp"

namespace pcp::trace {
namespace {

Glob glob(std::string_view pattern) {
  auto parsed = Glob::parse(pattern);
  EXPECT_TRUE(parsed) << pattern << ": " << error_of(parsed);
  return parsed ? *std::move(parsed) : Glob();
}

bool matches(std::string_view pattern, std::string_view text) {
  return glob(pattern).matches(text);
}

std::string complaint_about(std::string_view pattern) { return error_of(Glob::parse(pattern)); }

TEST(Glob, MayMatchTextsWithABeginning) {
  for (const char* const pattern : {"request{*", "r*x", "reque?t{a=[0-9]}", "request{", "*"})
    EXPECT_TRUE(glob(pattern).may_begin_with("request{")) << pattern;
  for (const char* const pattern : {"request", "req?x*", "a*", ""})
    EXPECT_FALSE(glob(pattern).may_begin_with("request{")) << pattern;
}

TEST(Glob, MayBeATextOrEverything) {
  EXPECT_TRUE(Glob::exactly("a*[").matches("a*["));
  EXPECT_FALSE(Glob::exactly("a*").matches("ab"));
  EXPECT_TRUE(glob("***").matches_everything());
  EXPECT_FALSE(glob("?*").matches_everything());
  EXPECT_FALSE(glob("").matches_everything());
}

TEST(Glob, SaysWhatIsWrong) {
  for (const char* const pattern : {"a\\", "a[b\\", "a[b-\\"})
    EXPECT_EQ(complaint_about(pattern), "a backslash must not be its last character") << pattern;
  for (const char* const pattern : {"a[bc", "["})
    EXPECT_EQ(complaint_about(pattern), "] is missing; write a literal [ as \\[") << pattern;
  for (const char* const pattern : {"[]x]", "[!]"})
    EXPECT_EQ(complaint_about(pattern), "a [] is empty; a ] in it is \\]") << pattern;
  for (const char* const pattern : {"[\xc3\xa9]", "[a-\xc3]"})
    EXPECT_EQ(complaint_about(pattern), "[..] takes ASCII only") << pattern;
  EXPECT_EQ(complaint_about("[z-a]"), "a range in [..] ends before it begins");
}

TEST(Glob, HasOneTextForPatternsThatAreTheSame) {
  EXPECT_EQ(glob("a**b").text(), "a*b");
  EXPECT_EQ(glob("*?*?").text(), "??*");
  EXPECT_EQ(glob("[cbadx]").text(), "[a-dx]");
  EXPECT_EQ(glob("[ba][dc]").text(), "[ab][cd]");
  EXPECT_EQ(glob("[a]").text(), "a");
  EXPECT_EQ(glob("[^a-c]").text(), "[!a-c]");
  EXPECT_EQ(glob("\\a\\]").text(), "a]");
  EXPECT_EQ(glob("\\*[*]\"").text(), "\\*\\*\\\"");
  EXPECT_EQ(glob("[\\]\\\\\\-!^]").text(), "[\\!\\-\\\\-\\^]");
  EXPECT_EQ(glob("a*?"), glob("a?*"));
  EXPECT_NE(glob("a*?"), glob("a*"));
}

// A step for each way to divide the text among the stars would take for ever.
TEST(Glob, TakesNoLongerForManyStars) {
  const std::string text(16 * 1024, 'a');
  std::string pattern;
  for (int i = 0; i < 500; ++i) pattern += "*a";
  EXPECT_FALSE(matches(pattern + 'b', text));
  EXPECT_FALSE(matches(pattern + "*b", text));
  EXPECT_FALSE(matches(pattern + "[bc]", text));
  EXPECT_TRUE(matches(pattern, text));
  EXPECT_TRUE(matches(pattern + "*", text));
}

std::string random_text(std::span<const std::string_view> pieces, std::mt19937& random,
                        std::size_t most) {
  std::string text;
  for (std::size_t left = random() % (most + 1); left > 0; --left)
    text += pieces[random() % pieces.size()];
  return text;
}

// Except for class names ([:alpha:] and such) and empty sets, which ours does not have, and for
// UTF-8: "?" is one byte.
TEST(Glob, AgreesWithTheOneOfShells) {
  constexpr std::string_view kParts[] = {
      "a",     "b", "*", "*", "?", "[ab]", "[!a]", "[^a-c]",   "[a-]",      "[-a]",
      "[b-c]", "[", "]", "!", "-", "c",    "\\",   "[a-c0-9]", "[\\]\\\\]", "[a\\-c]"};
  constexpr std::string_view kBytes[] = {"a", "a", "b", "c", "-",  "]",
                                         "[", "!", "7", "d", "\\", "\xc3"};
  std::mt19937 random(20261122);
  int compared = 0;
  int matched = 0;
  while (compared < 50'000) {
    const std::string pattern = random_text(kParts, random, 8);
    const auto parsed = Glob::parse(pattern);
    if (!parsed) continue;
    const std::string text = random_text(kBytes, random, 6);
    const bool expected = fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
    ASSERT_EQ(parsed->matches(text), expected) << pattern << ' ' << text;
    ASSERT_EQ(glob(parsed->text()), *parsed) << pattern;
    ++compared;
    matched += expected;
  }
  EXPECT_GT(matched, compared / 50);
}

}  // namespace
}  // namespace pcp::trace
