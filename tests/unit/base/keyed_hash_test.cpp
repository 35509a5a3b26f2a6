// SPDX-License-Identifier: LGPL-2.1-or-later
// The hash of texts from outside.
#include "base/keyed_hash.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace pcp::trace {
namespace {

TEST(KeyedHash, TellsShortTextsApart) {
  const KeyedHash hash;
  std::set<std::uint64_t> hashes{hash("", 0)};
  for (std::size_t size = 1; size <= 9; ++size)
    for (int byte = 0; byte < 256; ++byte)
      hashes.insert(hash(std::string(size, static_cast<char>(byte)), 0));
  EXPECT_EQ(hashes.size(), 1U + 9 * 256);
}

}  // namespace
}  // namespace pcp::trace
