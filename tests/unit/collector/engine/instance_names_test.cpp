// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/instance_names.hpp"

#include <array>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/escape.hpp"
#include "wire/dimensions.hpp"

namespace pcp::trace::agent {
namespace {

using namespace std::string_view_literals;

std::string utf8_of(char32_t number) {
  const auto lead = [&](unsigned mark, int shift) {
    return static_cast<char>(mark | (number >> shift));
  };
  const auto next = [&](int shift) { return static_cast<char>(0x80U | (number >> shift & 0x3fU)); };
  if (number < 0x80) return {lead(0, 0)};
  if (number < 0x800) return {lead(0xc0, 6), next(0)};
  if (number < 0x10000) return {lead(0xe0, 12), next(6), next(0)};
  return {lead(0xf0, 18), next(12), next(6), next(0)};
}

TEST(ShownName, IsTheTagIfNothingIsWrongWithIt) {
  EXPECT_EQ(shown_name("checkout [eu] \"x\" a\\b  c ", 1, 0), "checkout [eu] \"x\" a\\b  c ");
  EXPECT_EQ(shown_name("größe €𝄞", 1, 0), "größe €𝄞");
}

TEST(ShownName, EscapesControlBytesAndWhatIsInvisibleOrTurnsOthersAroundOrIsNotUtf8) {
  EXPECT_EQ(shown_name("a\tb\nc\x01\x7f", 1, 0), "a\\x09b\\x0ac\\x01\\x7f");
  EXPECT_EQ(shown_name("\xc2\x85", 1, 0), "\\xc2\\x85");
  EXPECT_EQ(shown_name("\u202egnp", 1, 0), "\\xe2\\x80\\xaegnp");
  EXPECT_EQ(shown_name("a\u00ad\u2069", 1, 0), "a\\xc2\\xad\\xe2\\x81\\xa9");
  EXPECT_EQ(shown_name("a\xff\xe2\x82", 1, 0), "a\\xff\\xe2\\x82");
}

// Else a tag's name in an archive would not have its labels.
TEST(ShownName, EscapesNothingOfLabels) {
  for (char32_t number = 1; number <= 0x10ffff; ++number) {
    const std::string value = utf8_of(number);
    std::string tag;
    ASSERT_TRUE(compose_dimensions(tag, "a", std::array{DimensionView("k", value)}));
    ASSERT_EQ(printable(tag, 2 * kMaxShownBytes), tag) << std::hex << static_cast<unsigned>(number);
    ASSERT_EQ(parse_dimensions(tag)->labels.at(0).value, value);
  }
}

TEST(ShownName, IsCutBetweenCharactersIfEscapesMakeItLong) {
  EXPECT_EQ(shown_name(std::string(254, 'x'), 1, 0), std::string(254, 'x'));
  EXPECT_EQ(shown_name(std::string(255, 'x'), 1, 0), std::string(251, 'x') + "...");
  EXPECT_EQ(shown_name(std::string(63, '\x01') + "ab", 1, 0).size(), 254u);
  EXPECT_TRUE(shown_name(std::string(63, '\x01') + "ab", 1, 0).ends_with("\\x01ab"));
  EXPECT_TRUE(shown_name(std::string(64, '\x01'), 1, 0).ends_with("\\x01..."));
  EXPECT_EQ(shown_name(std::string(64, '\x01'), 1, 0).size(), 62 * 4 + 3u);
  EXPECT_EQ(shown_name("\xff" + std::string(246, 'x') + "€€", 1, 0),
            "\\xff" + std::string(246, 'x') + "...");
  EXPECT_EQ(shown_name(std::string(64, '\x01'), 12, 1).size(), 62 * 4 + 3u + 3u);
  const std::string labels = "{route=/cart;zone=eu}";
  EXPECT_TRUE(shown_name(std::string(62, '\t') + labels, 1, 0).ends_with("\\x09..." + labels));
  EXPECT_LE(shown_name(std::string(62, '\t') + labels, 1, 0).size(), 254u);
}

TEST(ShownName, HasAFirstWordAndCarriesTheNumberAfterIt) {
  EXPECT_EQ(shown_name("  a b", 1, 0), "\\x20\\x20a b");
  EXPECT_EQ(shown_name(" ", 1, 0), "\\x20");
  EXPECT_EQ(shown_name("read a b", 17, 1), "read#17 a b");
  EXPECT_EQ(shown_name("read", 17, 2), "read#17#17");
}

TEST(InstanceNames, GivesEachTypeWordsOfItsOwnAndFindsTagsThatOnlyLookAlike) {
  InstanceNames names(10);
  EXPECT_EQ(names.claim(TraceType::Point, "a\n", 1), 0);
  EXPECT_EQ(names.claim(TraceType::Observe, "a\n", 1), 0);
  EXPECT_EQ(names.claim(TraceType::Point, "a\\x0a", 2), 1);
}

TEST(InstanceNames, AreUniqueUpToTheFirstBlankHoweverTagsTryToClash) {
  InstanceNames names(1000);
  std::set<std::string> words;
  std::int32_t instance = 0;
  const auto claim = [&](const std::string& tag) {
    ++instance;
    const auto suffixes = names.claim(TraceType::Point, tag, instance);
    const std::string name = shown_name(tag, instance, suffixes);
    EXPECT_TRUE(words.insert(name.substr(0, name.find(' '))).second) << name;
  };
  for (int i = 1; i <= 60; ++i) {  // takes the names that "a" would get later
    std::string tag = "a";
    for (int j = 0; j < i; ++j) tag += "#61";
    claim(tag);
  }
  claim("a");
  for (int i = 0; i < 100; ++i) claim("a " + std::to_string(i));
  for (int i = 0; i < 200; ++i) claim("a#" + std::to_string(i));
  for (int i = 0; i < 100; ++i) claim(std::string(250, '\n') + std::to_string(i));  // they are cut
}

}  // namespace
}  // namespace pcp::trace::agent
