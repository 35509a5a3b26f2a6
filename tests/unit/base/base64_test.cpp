// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/base64.hpp"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace pcp::trace {
namespace {

std::string encoded(std::string_view bytes) {
  std::string text;
  encode_base64(bytes, text);
  return text;
}

bool decodes(std::string_view text) {
  std::string bytes;
  return decode_base64(text, bytes);
}

// The examples of RFC 4648, and the last two digits of the alphabet.
TEST(Base64, IsThisText) {
  const struct {
    const char* bytes;
    const char* text;
  } cases[] = {{"", ""},
               {"f", "Zg=="},
               {"fo", "Zm8="},
               {"foo", "Zm9v"},
               {"foob", "Zm9vYg=="},
               {"fooba", "Zm9vYmE="},
               {"foobar", "Zm9vYmFy"},
               {"\xfb\xff\xfe", "+//+"}};
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(encoded(bytes), text);
    std::string decoded = "before ";
    EXPECT_TRUE(decode_base64(text, decoded)) << text;
    EXPECT_EQ(decoded, std::string("before ") + bytes);
  }
}

TEST(Base64, BecomesTheSameBytes) {
  std::mt19937 random(1);
  for (std::size_t size = 0; size < 300; ++size) {
    std::string bytes(size, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    std::string decoded;
    ASSERT_TRUE(decode_base64(encoded(bytes), decoded));
    ASSERT_EQ(decoded, bytes);
  }
}

TEST(Base64, IsNothingElse) {
  for (const char* text :
       {"Z", "Zg", "Zm8", "Zm9vY", "Zg=", "Z===", "====", "Zg==Zg==", "Zh==", "Zm9=", "Zm 9v",
        "Zm9v\n", "Zm9_", "Zm9-", "Zm\xc3\xa9", "Zg=v", "=m9v"}) {
    EXPECT_FALSE(decodes(text)) << text;
  }
}

}  // namespace
}  // namespace pcp::trace
