// SPDX-License-Identifier: LGPL-2.1-or-later
// The hash of texts from outside.
#include "base/keyed_hash.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace pcp::trace {
namespace {

TEST(KeyedHash, DependsOnEveryByteTheTweakAndTheKey) {
  const KeyedHash hash;
  std::set<std::uint64_t> hashes{hash("", 0), hash("", 1), KeyedHash()("", 0)};
  for (std::size_t size = 1; size <= 9; ++size)
    for (int byte = 0; byte < 256; ++byte)
      hashes.insert(hash(std::string(size, static_cast<char>(byte)), 0));
  std::string text = "0123456789abcdef0";
  const std::uint64_t before = hash(text, 0);
  for (char& byte : text) {
    ++byte;
    hashes.insert(hash(text, 0));
    --byte;
  }
  EXPECT_EQ(hashes.size(), 3U + 9 * 256 + text.size());
  EXPECT_EQ(hash(text, 0), before);
}

}  // namespace
}  // namespace pcp::trace
