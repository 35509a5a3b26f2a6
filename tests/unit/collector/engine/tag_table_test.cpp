// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/tag_table.hpp"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fixture.hpp"

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

TEST(RecentTags, HaveOnePlaceForATag) {
  RecentTags recent;
  EXPECT_FALSE(recent.entry_of(Point, "a").is(Point, "a"));
  recent.entry_of(Point, "a") = {"a", Point, 7};
  const RecentTags::Entry& entry = recent.entry_of(Point, std::string("a"));
  EXPECT_TRUE(entry.is(Point, "a"));
  EXPECT_FALSE(entry.is(Observe, "a"));
  EXPECT_FALSE(entry.is(Point, "b"));
  EXPECT_EQ(entry.tag, 7u);
}

// Programs have names that differ in few bytes, each with all types.
TEST(RecentTags, KeepMostOfASmallNumberOfTags) {
  RecentTags recent;
  std::vector<std::string> names;
  for (int i = 0; i < 10; ++i) {
    for (const char* text : {"t", "tag000", "tag.000", "a longer name of a tag ", "db.query."}) {
      names.push_back(text + std::to_string(i));
    }
  }
  for (const std::string& name : names) {
    for (const TraceType type : kTraceTypes) recent.entry_of(type, name) = {name, type, 1};
  }
  std::size_t kept = 0;
  for (const std::string& name : names) {
    for (const TraceType type : kTraceTypes) kept += recent.entry_of(type, name).is(type, name);
  }
  EXPECT_GT(kept, names.size() * kTraceTypes.size() / 2);
}

// More tags than are remembered, many of them with the same beginning, end and length.
TEST(RecentTags, AreNeverConfused) {
  World world;
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) {
    const std::string number = std::to_string(1000 + i);
    names.insert(names.end(), {number, "beginning" + number + "and end", number + number});
  }
  for (std::uint64_t round = 1; round <= 3; ++round) {
    for (const TraceType type : kTraceTypes) {
      for (std::size_t i = 0; i < names.size(); ++i) {
        for (std::uint64_t n = 0; n <= i % 3; ++n) world.value(type, names[i]);
      }
    }
  }
  for (const TraceType type : kTraceTypes) {
    std::map<std::string, std::uint64_t> counts;
    const auto instances = world.instances(type);
    const auto values = world.snapshot(type);
    ASSERT_EQ(instances.size(), names.size());
    for (std::size_t i = 0; i < instances.size(); ++i) {
      counts[instances[i].tag] = values[i].total.count;
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      ASSERT_EQ(counts[names[i]], 3 * (i % 3 + 1)) << names[i];
    }
  }
}

}  // namespace
}  // namespace pcp::trace::agent
