// SPDX-License-Identifier: LGPL-2.1-or-later
#include "counts/tag_cache.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "wire/trace_type.hpp"

namespace pcp::trace::client {
namespace {

// Texts at the very end of readable memory: reading one byte too many ends the process.
class SameText : public testing::Test {
 protected:
  SameText() {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* memory =
        ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    end_ = static_cast<char*>(memory) + page;
    EXPECT_EQ(::mprotect(end_, page, PROT_NONE), 0);
  }
  ~SameText() override {
    const auto page = ::sysconf(_SC_PAGESIZE);
    ::munmap(end_ - page, 2 * static_cast<std::size_t>(page));
  }

  // Places a text with `behind` bytes between its NUL and the end.
  const char* place(const std::string& text, std::size_t behind) {
    std::memset(end_ - 512, '#', 512);
    char* at = end_ - behind - text.size() - 1;
    std::memcpy(at, text.c_str(), text.size() + 1);
    return at;
  }

  static std::string text_of(std::size_t length) {
    std::string text(length, ' ');
    for (std::size_t i = 0; i < length; ++i) text[i] = static_cast<char>('a' + i % 26);
    return text;
  }

  char* end_;
};

TEST_F(SameText, HoldsForTheSameBytesOnlyAtEveryLengthAndAddress) {
  for (std::size_t length = 1; length <= 40; ++length) {
    const std::string text = text_of(length);
    const Tag& tag = *intern_tag(text);
    for (std::size_t behind = 0; behind < 16; ++behind) {
      SCOPED_TRACE(text + ", before the end: " + std::to_string(behind));
      const auto holds = [&](const std::string& other) {
        return is_same_text(place(other, behind), tag);
      };
      EXPECT_TRUE(holds(text));
      EXPECT_FALSE(holds(text + 'x'));
      for (std::size_t i = 0; i < length; ++i) {
        EXPECT_FALSE(holds(text.substr(0, i)));
        std::string other = text;
        other[i] = '!';
        EXPECT_FALSE(holds(other));
      }
    }
  }
}

TEST_F(SameText, HoldsForTheLongestTag) {
  const std::string text = text_of(kMaxTagLength);
  const Tag& tag = *intern_tag(text);
  EXPECT_TRUE(is_same_text(place(text, 0), tag));
  EXPECT_FALSE(is_same_text(place(text + 'x', 0), tag));
}

TEST(TagCache, NoticesThatABufferHasAnotherText) {
  TagCache cache;
  char buffer[16] = "first";
  EXPECT_FALSE(TagCache::holds(cache.at(buffer), buffer));
  cache.at(buffer) = {buffer, intern_tag(buffer), 0, nullptr};
  EXPECT_TRUE(TagCache::holds(cache.at(buffer), buffer));
  for (const char* other : {"second", "firs"}) {
    std::strcpy(buffer, other);
    EXPECT_FALSE(TagCache::holds(cache.at(buffer), buffer)) << other;
  }
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
