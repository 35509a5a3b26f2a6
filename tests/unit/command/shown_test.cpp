// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/shown.hpp"

#include <clocale>
#include <string>

#include <gtest/gtest.h>

namespace pcp::trace::command {
namespace {

const Shown kUtf8(Terminal{true, false, 80});
const Shown kAscii(Terminal{false, false, 80});

TEST(Duration, HasThreeDigitsAndAUnit) {
  EXPECT_EQ(kUtf8.duration(0), "0 s");
  EXPECT_EQ(kUtf8.duration(850e-9), "850 ns");
  EXPECT_EQ(kUtf8.duration(1.234e-6), "1.23 µs");
  EXPECT_EQ(kAscii.duration(1.234e-6), "1.23 us");
  EXPECT_EQ(kUtf8.duration(45.67e-3), "45.7 ms");
  EXPECT_EQ(kUtf8.duration(0.9996), "1.00 s");
  EXPECT_EQ(kUtf8.duration(61), "61.0 s");
  EXPECT_EQ(kUtf8.duration(1234), "20.6 min");
  EXPECT_EQ(kUtf8.duration(86'400), "24.0 h");
  EXPECT_EQ(kUtf8.duration(1e9), "11,574 d");
}

TEST(Count, IsExactUpToAMillion) {
  EXPECT_EQ(Shown::count(0), "0");
  EXPECT_EQ(Shown::count(1234), "1,234");
  EXPECT_EQ(Shown::count(999'999), "999,999");
  EXPECT_EQ(Shown::count(1'234'567), "1.23 M");
  EXPECT_EQ(Shown::counted(1'234'567, "span"), "1,234,567 spans");
  EXPECT_EQ(Shown::count(45.6e9), "45.6 G");
  EXPECT_EQ(Shown::count(-1234), "-1,234");
}

TEST(Number, HasThreeDigits) {
  EXPECT_EQ(Shown::number(0), "0");
  EXPECT_EQ(Shown::number(17), "17");
  EXPECT_EQ(Shown::number(0.12345), "0.123");
  EXPECT_EQ(Shown::number(1.5), "1.50");
  EXPECT_EQ(Shown::number(123456.7), "123,457");
  EXPECT_EQ(Shown::number(12.3e6), "12.3 M");
  EXPECT_EQ(Shown::number(-2.5e-7), "-2.5e-07");
}

TEST(Number, ThatIsMeasuredIsNeverWholeByChance) {
  EXPECT_EQ(Shown::measured(10), "10.0");
  EXPECT_EQ(Shown::measured(0), "0");
  EXPECT_EQ(Shown::measured(0.25), "0.25");
  EXPECT_EQ(Shown::measured(1000), "1,000");
}

TEST(ChangeOf, IsAShareWithItsSign) {
  EXPECT_EQ(kUtf8.change(10, 11), "+10%");
  EXPECT_EQ(kUtf8.change(10, 9.9), "-1.0%");
  EXPECT_EQ(kUtf8.change(5, 5), "±0%");
  EXPECT_EQ(kUtf8.change(0, 0), "±0%");
  EXPECT_EQ(kUtf8.change(10'000, 9'996), "±0%");
  EXPECT_EQ(kUtf8.change(10'000, 9'994), "-0.1%");
  EXPECT_EQ(kUtf8.change(1000, 2), "-99.8%");
  EXPECT_EQ(kUtf8.change(1e9, 1), "-99.99%");
  EXPECT_EQ(kUtf8.change(5, 0), "-100%");
  EXPECT_EQ(kUtf8.change(0, 5), "new");
  EXPECT_EQ(kUtf8.change(1, 50), "×50");
  EXPECT_EQ(kAscii.change(1, 1e9), "x>999");
}

TEST(Name, IsCutBehindItsBeginning) {
  EXPECT_EQ(kUtf8.name("checkout", 8), "checkout");
  EXPECT_EQ(kUtf8.name("request{route=/cart}", 9), "re…/cart}");
  EXPECT_EQ(kAscii.name("request{route=/cart}", 9), "re..cart}");
  EXPECT_EQ(kUtf8.name("abc", 0), "…");
  EXPECT_EQ(kUtf8.name("read the whole file", 18), "read…e whole file");  // no blank at the cut
  EXPECT_EQ(kUtf8.name("read a whole file", 8), "re…file");
  for (const char* const route : {"/cart", "/user"})
    EXPECT_EQ(kUtf8.name("request{route=/api/v1" + std::string(route) + ";status=200}", 24),
              "reques…" + std::string(route) + ";status=200}");
}

TEST(Names, ThatDifferLookDifferentAfterTheCut) {
  const auto cut = [](const std::vector<std::string>& names) {
    std::vector<NameToCut> to_cut;
    for (const std::string& each : names) to_cut.push_back({each, 21});
    return kUtf8.names(to_cut);
  };
  using Cut = std::vector<std::string>;
  EXPECT_EQ(cut({"request{route=/cart/items/1/a,status=200}", "checkout",
                 "request{route=/cart/items/2/a,status=200}"}),
            (Cut{"reque…1/a,status=200}", "checkout", "reque…2/a,status=200}"}));
  EXPECT_EQ(cut({"request{route=/cart/a,status=200}", "request{route=/cart/b,status=200}"}),
            (Cut{"reque…t/a,status=200}", "reque…t/b,status=200}"}));
  const std::string same(30, 'x');
  EXPECT_EQ(
      cut({same + "1" + same + "1a" + same, same + "1" + same + "2a" + same, same + "2" + same}),
      (Cut{"xxxx…1axxxxxxxxxxxxx…", "xxxx…2axxxxxxxxxxxxx…", "xxxx…2xxxxxxxxxxxxxx…"}));
  EXPECT_EQ(cut({same, same}), (Cut{"xxxxx…xxxxxxxxxxxxxxx", "xxxxx…xxxxxxxxxxxxxxx"}));
}

TEST(Name, DoesNothingToATerminal) {
  EXPECT_EQ(kUtf8.name("a\033[31mb\n\x7f", 80), "a\\x1b[31mb\\x0a\\x7f");
  EXPECT_EQ(kUtf8.name("\xc2\x9b", 80), "\\xc2\\x9b");  // a control character
  EXPECT_EQ(kUtf8.name("\xe2\x80\xae"
                       "abc",
                       80),
            "\\xe2\\x80\\xae"
            "abc");                                     // from right to left
  EXPECT_EQ(kUtf8.name("\xff\xc3", 80), "\\xff\\xc3");  // no UTF-8
  EXPECT_EQ(kUtf8.name("größe", 80), "größe");
  // An accent for the letter before.
  ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr);
  EXPECT_EQ(kUtf8.name("e\xcc\x81", 80), "e\xcc\x81");
  EXPECT_EQ(kUtf8.name("\xcc\x81", 80), "\\xcc\\x81");
  EXPECT_EQ(kAscii.name("größe", 80), "gr\\xc3\\xb6\\xc3\\x9fe");
}

TEST(Name, OfAnyBytesKeepsToItsColumns) {
  std::string bytes;
  for (int i = 1; i < 256; ++i) bytes += static_cast<char>(i);
  for (std::size_t columns = 1; columns < 300; ++columns) {
    EXPECT_LE(columns_of(kUtf8.name(bytes, columns)), columns);
    if (columns > 1) {
      EXPECT_LE(columns_of(kAscii.name(bytes, columns)), columns);
    }
  }
}

TEST(Column, IsFilledAndColoursTakeNoRoom) {
  const Shown colours(Terminal{true, true, 80});
  EXPECT_EQ(Shown::right("µs", 4), "  µs");
  EXPECT_EQ(Shown::left("µs", 4), "µs  ");
  EXPECT_EQ(Shown::right("too long", 4), "too long");
  EXPECT_EQ(Shown::right(colours.bold("ab"), 4), "  \033[1mab\033[0m");
  EXPECT_EQ(kUtf8.bold("ab"), "ab");
}

}  // namespace
}  // namespace pcp::trace::command
