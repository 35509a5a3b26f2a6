// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/parse_argument.hpp"

#include <tuple>

#include <gtest/gtest.h>

#include "support/error_of.hpp"

namespace pcp::trace::agent {
namespace {

using namespace std::chrono_literals;

TEST(ParseNumber, TakesWholeNumbersInRange) {
  EXPECT_EQ(*parse_number("0", 0, 9), 0);
  EXPECT_EQ(*parse_number("-8", -8, 9), -8);
  EXPECT_EQ(*parse_number("9", 0, 9), 9);
}

TEST(ParseNumber, NamesWhatItRefusesAndTheRange) {
  for (const char* text : {"", " ", "x", "1x", "1.5", "10", "-1", "99999999999999999999"}) {
    const std::string error = error_of(parse_number(text, 0, 9));
    EXPECT_NE(error.find('"' + std::string(text) + '"'), error.npos) << error;
    EXPECT_NE(error.find("0 to 9"), error.npos) << error;
  }
}

TEST(ParsePort, TakesNumbersAndServices) {
  EXPECT_EQ(*parse_port("1"), 1);
  EXPECT_EQ(*parse_port("65535"), 65535);
  EXPECT_EQ(*parse_port("http"), 80);
  for (const char* text : {"0", "65536", "-1", "no-such-service", ""})
    EXPECT_NE(error_of(parse_port(text)), "") << text;
}

TEST(ParsePeriod, TakesPcpsNotationDownToFractionsOfASecond) {
  EXPECT_EQ(*parse_period("10"), 10s);
  EXPECT_EQ(*parse_period("30 seconds"), 30s);
  EXPECT_EQ(*parse_period("30sec"), 30s);
  EXPECT_EQ(*parse_period("500msec"), 500ms);
  EXPECT_EQ(*parse_period("500ms"), 500min);  // PCP's own notation; the manual warns of it
  EXPECT_EQ(*parse_period("1min"), 60s);
  EXPECT_EQ(*parse_period("2.5sec"), 2500ms);
  EXPECT_EQ(*parse_period("20 msec"), 20ms);
}

TEST(ParsePeriod, RefusesWhatIsNotAboveZeroOrTooLong) {
  for (const char* text :
       {"0", "-5", "foo", "", "10 fortnights", "400 days", "1e300", "inf", "nan"}) {
    EXPECT_NE(error_of(parse_period(text)).find('"' + std::string(text) + '"'), std::string::npos)
        << text;
  }
}

TEST(ParseUnits, TakesSixIntegers) {
  const pmUnits units = *parse_units("1,-1,0,2,3,-3");
  EXPECT_EQ(std::tuple(+units.dimSpace, +units.dimTime, +units.dimCount), std::tuple(1, -1, 0));
  EXPECT_EQ(std::tuple(+units.scaleSpace, +units.scaleTime, +units.scaleCount),
            std::tuple(PM_SPACE_MBYTE, PM_TIME_SEC, -3));
}

TEST(ParseUnits, NamesThePartThatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"8,0,0,0,0,0", "space dimension"}, {"0,-9,0,0,0,0", "time dimension"},
      {"0,0,x,0,0,0", "count dimension"}, {"0,0,0,9,0,0", "space scale"},
      {"0,0,0,0,6,0", "time scale"},      {"0,0,0,0,0,", "count scale"}};
  for (const auto& [text, part] : cases)
    EXPECT_NE(error_of(parse_units(text)).find(part), std::string::npos) << text;
}

TEST(ParseUnits, WantsSixOfThem) {
  for (const char* text : {"", "1,2", "0,0,0,0,0", "0,0,0,0,0,0,0"})
    EXPECT_NE(error_of(parse_units(text)).find("six"), std::string::npos) << text;
}

}  // namespace
}  // namespace pcp::trace::agent
