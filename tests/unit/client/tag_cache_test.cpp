// SPDX-License-Identifier: LGPL-2.1-or-later
#include "counts/tag_cache.hpp"

#include <cstring>

#include <gtest/gtest.h>

namespace pcp::trace::client {
namespace {

TEST(TagCache, HoldsWhatWasPutThere) {
  TagCache cache;
  const char* name = "cached";
  EXPECT_FALSE(TagCache::holds(cache.at(name), name));
  cache.at(name) = {name, intern_tag(name), 0, nullptr};
  EXPECT_TRUE(TagCache::holds(cache.at(name), name));
}

TEST(TagCache, NoticesThatABufferHasAnotherText) {
  TagCache cache;
  char buffer[16] = "first";
  cache.at(buffer) = {buffer, intern_tag(buffer), 0, nullptr};
  std::strcpy(buffer, "second");
  EXPECT_FALSE(TagCache::holds(cache.at(buffer), buffer));
  std::strcpy(buffer, "firs");
  EXPECT_FALSE(TagCache::holds(cache.at(buffer), buffer));
  std::strcpy(buffer, "first");
  EXPECT_TRUE(TagCache::holds(cache.at(buffer), buffer));
}

TEST(TagCache, IgnoresAnotherAddressInTheSamePlace) {
  TagCache cache;
  const char text[][6] = {"alike", "alike"};
  cache.at(text[0]) = {text[0], intern_tag(text[0]), 0, nullptr};
  cache.at(text[1]) = cache.at(text[0]);
  EXPECT_FALSE(TagCache::holds(cache.at(text[1]), text[1]));
}

}  // namespace
}  // namespace pcp::trace::client
