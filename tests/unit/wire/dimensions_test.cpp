// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wire/dimensions.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "wire/label_name.hpp"

namespace pcp::trace {
namespace {

std::string compose(std::string_view name, const std::vector<DimensionView>& labels) {
  std::string text;
  return compose_dimensions(text, name, labels) ? text : "(none)";
}

// Gives name|key=value|key=value, unescaped.
std::string parse(std::string_view tag) {
  const std::optional<Dimensions> found = parse_dimensions(tag);
  EXPECT_EQ(bare_name(tag), found ? found->name : tag) << tag;
  if (!found) return "(none)";
  std::string text(found->name);
  for (const auto& [key, value] : found->labels) text += '|' + std::string(key) + '=' + value;
  return text;
}

TEST(Dimensions, AreOneTextInWhateverOrderTheyAreGiven) {
  EXPECT_EQ(compose("request", {{"zone", "eu"}, {"route", "/cart"}}),
            "request{route=/cart;zone=eu}");
  EXPECT_EQ(compose("request", {{"b", "2"}, {"c", "3"}, {"a", ""}}), "request{a=;b=2;c=3}");
  EXPECT_EQ(compose("request", {}), "request");
}

TEST(Dimensions, EscapeAllThatCouldBeMisunderstood) {
  EXPECT_EQ(compose("x", {{"k", "a b{;=,}\"%\\\n"}}), "x{k=a%20b%7B%3B%3D%2C%7D%22%25%5C%0A}");
  EXPECT_EQ(compose("x", {{"k", "aZ09_./:@+-"}}), "x{k=aZ09_./:@+-}");
}

TEST(Dimensions, LeaveLettersAsTheyAre) {
  for (const char* letters : {"gr\u00f6\u00df", "\u00c0", "\u6771\u4eac", "\u0416", "\U00020000"})
    EXPECT_EQ(compose("x", {{"k", letters}}), "x{k=" + std::string(letters) + "}");
  // A multiplication sign, a quote, an ideographic space, a replacement character, an emoji.
  EXPECT_EQ(compose("x", {{"k", "\u00d7\u201c\u3000\ufffd\U0001f600"}}),
            "x{k=%C3%97%E2%80%9C%E3%80%80%EF%BF%BD%F0%9F%98%80}");
  // No UTF-8: cut off, overlong, a surrogate, too large; and two of Latin-1 that are no letters.
  EXPECT_EQ(compose("x", {{"a", "\xc3"}, {"b", "\xe0\x83\x80"}, {"c", "\xed\xa0\x80"}}),
            "x{a=%C3;b=%E0%83%80;c=%ED%A0%80}");
  EXPECT_EQ(compose("x", {{"d", "\xf4\x90\x80\x80"}, {"e", "\u00a0\u00bf"}}),
            "x{d=%F4%90%80%80;e=%C2%A0%C2%BF}");
}

TEST(Dimensions, ComeBackAsTheyWereGiven) {
  for (int c = 1; c < 256; ++c) {
    const std::string value(1, static_cast<char>(c));
    EXPECT_EQ(parse(compose("x{}", {{"k", value}})), "x{}|k=" + value);
  }
  EXPECT_EQ(parse(compose("x", {{"b", "gr\u00f6\u00df=1;"}, {"a", ""}})),
            "x|a=|b=gr\u00f6\u00df=1;");
}

TEST(Dimensions, HaveKeysThatAreNamesOfLabelsAndNotPcpsOwn) {
  for (const char* key : {"", "Zone", "_a", "9", "a-b", "a b", "tag", "userid", "trace_type"}) {
    EXPECT_EQ(compose("x", {{key, "1"}}), "(none)") << key;
    EXPECT_EQ(parse("x{" + std::string(key) + "=1}"), "(none)") << key;
  }
  for (const char* key : {"zone", "a", "a_", "k8s_pod", "service", "pid"})
    EXPECT_EQ(parse(compose("x", {{key, "1"}})), "x|" + std::string(key) + "=1");
  EXPECT_EQ(compose("x", {{"a", "1"}, {"b", "1"}, {"a", "2"}}), "(none)");
}

TEST(Dimensions, AreSixteenAtMost) {
  std::vector<DimensionView> labels;
  const std::string alphabet = "abcdefghijklmnopqrstuvwxyz";
  for (std::size_t i = 0; i < 16; ++i)
    labels.push_back({std::string_view(alphabet).substr(i, 1), ""});
  const std::string sixteen = compose("x", labels);
  EXPECT_EQ(parse_dimensions(sixteen).value().labels.size(), 16u);
  labels.push_back({"z", ""});
  EXPECT_EQ(compose("x", labels), "(none)");
  EXPECT_EQ(parse(sixteen.substr(0, sixteen.size() - 1) + ";z=}"), "(none)");
}

TEST(Dimensions, OfAnyOtherFormAreNone) {
  for (const char* tag :
       {"",           "x",          "{a=1}",       "x{}",         "x{a}",       "x{a=1",
        "x{a=1}y",    "x{a=1;}",    "x{;a=1}",     "x{a=1;;b=2}", "x{b=1;a=2}", "x{a=1;a=2}",
        "x{a=1,b=2}", "x{a=\"1\"}", "x{a=b c}",    "x{a=1=2}",    "x{a=%4}",    "x{a=%G0}",
        "x{a=%}",     "x{a=\xc3}",  "x{a=\u00d7}", "}",           "x}",         "x{=1}"})
    EXPECT_EQ(parse(tag), "(none)") << tag;
  EXPECT_EQ(parse("x{y{a=1}"), "x{y|a=1");
  EXPECT_EQ(parse("x{a=1}{b=2}"), "x{a=1}|b=2");
}

TEST(Dimensions, AreWrittenInOneWayOnly) {
  EXPECT_EQ(parse("x{a=/}"), "x|a=/");
  EXPECT_EQ(parse("x{a=\u00f6}"), "x|a=\u00f6");
  for (const char* tag : {"x{a=%2F}", "x{a=%2f}", "x{a=%3d}", "x{a=%C3%B6}", "x{a=%20%41}",
                          "x{a=%C3%C3%B6}", "x{a=%F0%A0%80%80}"})
    EXPECT_EQ(parse(tag), "(none)") << tag;
  for (const char* tag : {"x{a=%3D}", "x{a=%C3A}", "x{a=%C3\u00f6}", "x{a=%F0%9F%98%80}"})
    EXPECT_NE(parse(tag), "(none)") << tag;
}

TEST(Dimensions, StayWithinTheLengthOfATag) {
  const std::string name(kMaxTagLength - 5, 'n');
  const std::vector<DimensionView> one{{"a", "1"}};
  const std::vector<DimensionView> blank{{"a", " "}};
  std::string text = "before ";
  EXPECT_TRUE(compose_dimensions(text, name, one));
  EXPECT_EQ(text, "before " + name + "{a=1}");
  text = "before ";
  EXPECT_FALSE(compose_dimensions(text, name + "n", one));
  EXPECT_FALSE(compose_dimensions(text, name, blank));
  EXPECT_EQ(text, "before ");
  EXPECT_TRUE(compose_dimensions(text, "x", one, 6));
  EXPECT_FALSE(compose_dimensions(text, "x", one, 5));
}

TEST(LabelName, IsWhatPcpTakes) {
  for (const char* name : {"a", "Z", "zone", "k8s_pod_1", "a_"}) EXPECT_TRUE(is_label_name(name));
  EXPECT_TRUE(is_label_name(std::string(254, 'x')));
  EXPECT_FALSE(is_label_name(std::string(255, 'x')));
  for (const char* name :
       {"", "9lives", "_a", "a b", "x\"", "k8s.pod", "a-b", "gr\xc3\xb6\xc3\x9f"})
    EXPECT_FALSE(is_label_name(name)) << name;
  EXPECT_FALSE(is_label_name(std::string("a\0b", 3)));
}

TEST(LabelName, MayNotBeOneThatTellsWhereOrWhoAProcessIs) {
  for (const char* name : {"hostname", "machineid", "agent", "tag", "pid", "userid", "groupid",
                           "trace_type", "service"})
    EXPECT_TRUE(is_reserved_label(name)) << name;
  EXPECT_FALSE(is_reserved_label("zone"));
}

}  // namespace
}  // namespace pcp::trace
