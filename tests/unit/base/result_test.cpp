// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/result.hpp"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace pcp::trace {

namespace {

Result<std::string> half_of(const std::string& text) {
  if (text.size() % 2 != 0) return Error{"\"" + text + "\" has no middle"};
  return text.substr(0, text.size() / 2);
}

TEST(Result, IsAValueOrWhyThereIsNone) {
  const auto good = half_of("abcd");
  ASSERT_TRUE(good);
  EXPECT_EQ(*good, "ab");
  EXPECT_EQ(good->size(), 2u);
  const auto bad = half_of("abc");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message, "\"abc\" has no middle");
  EXPECT_TRUE(Result<void>());
  const Result<void> nothing = Error{"no"};
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().message, "no");
}

TEST(Result, GivesAwayWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 7);
}

}  // namespace

}  // namespace pcp::trace
