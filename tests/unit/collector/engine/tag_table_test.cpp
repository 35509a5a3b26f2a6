// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/tag_table.hpp"

#include <gtest/gtest.h>

namespace {

bool has_entropy = true;

}  // namespace

extern "C" {

int __real_getentropy(void* bytes, std::size_t size);
int __wrap_getentropy(void* bytes, std::size_t size);
int __wrap_getentropy(void* bytes, std::size_t size) {
  return has_entropy ? __real_getentropy(bytes, size) : -1;
}

}  // extern "C"

namespace pcp::trace::agent {
namespace {

TEST(TagTable, KeepsItsNamesWhereTheyAre) {
  TagTable table(1000);
  const std::string_view first = table.insert(TraceType::Point, "a", 0);
  for (TagIndex i = 1; i < 1000; ++i) table.insert(TraceType::Point, std::to_string(i), i);
  EXPECT_EQ(first, "a");
  EXPECT_EQ(table.find(TraceType::Point, "999"), 999u);
  EXPECT_EQ(table.find(TraceType::Observe, "999"), std::nullopt);
  EXPECT_EQ(table.size(), 1000u);
}

// With a key of zeros anyone could make names that collide.
TEST(KeyedHash, HasAnUnknownKeyWithoutARandomDevice) {
  constexpr std::uint64_t kByAKeyOfZeros = 0x9719e66d83cc00b8;
  has_entropy = false;
  const KeyedHash first;
  const KeyedHash second;
  has_entropy = true;
  EXPECT_NE(first("text", 1), second("text", 1));
  EXPECT_NE(first("text", 1), kByAKeyOfZeros);
}

}  // namespace
}  // namespace pcp::trace::agent
