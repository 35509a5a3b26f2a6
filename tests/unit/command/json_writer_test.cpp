// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/json_writer.hpp"

#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace pcp::trace::command {
namespace {

std::string text(std::string_view value) {
  JsonWriter json;
  json.text(value);
  return json.document();
}

std::string number(double value) {
  JsonWriter json;
  json.number(value);
  return json.document();
}

TEST(JsonWriter, PutsCommasBetweenWhatIsInside) {
  JsonWriter json;
  json.object([&] {
    json.key("none");
    json.array([] {});
    json.key("three");
    json.array([&] {
      json.number(1);
      json.object([] {});
      json.array([&] { json.truth(true); });
    });
    json.key("last");
    json.null();
  });
  EXPECT_EQ(json.document(), R"({"none":[],"three":[1,{},[true]],"last":null})");
}

TEST(JsonWriter, NumbersAreReadBackAsTheyWere) {
  for (const double value : {0.1, 1e-9, 123456789012345680.0, -1.5, 2.2250738585072014e-308})
    EXPECT_EQ(std::stod(number(value)), value) << number(value);
}

TEST(JsonWriter, WhatIsNotKnownIsNull) {
  EXPECT_EQ(number(std::numeric_limits<double>::quiet_NaN()), "null");
  EXPECT_EQ(number(std::numeric_limits<double>::infinity()), "null");
  JsonWriter json;
  json.number(std::optional<double>());
  EXPECT_EQ(json.document(), "null");
}

TEST(JsonWriter, TextIsValidWhateverItsBytesAre) {
  EXPECT_EQ(text(R"(a"b\c)"), R"("a\"b\\c")");
  EXPECT_EQ(text("\x1b[0m\n"), R"("\\x1b[0m\\x0a")");
  EXPECT_EQ(text("\xff"), R"("\\xff")");
  EXPECT_EQ(text("\xc3\xa4"), "\"\xc3\xa4\"");
  EXPECT_EQ(text(std::string(1000, 'a')), '"' + std::string(1000, 'a') + '"');
}

}  // namespace
}  // namespace pcp::trace::command
