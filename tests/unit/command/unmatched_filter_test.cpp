// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/unmatched_filter.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace pcp::trace::command {
namespace {

std::string why(const std::string& filter, const std::vector<std::string>& names,
                TraceType type = TraceType::Transact) {
  std::vector<Tag> tags;
  for (const std::string& name : names) {
    tags.emplace_back().name = name;
    tags.back().type = type;
  }
  return unmatched_filter(filter, tags, Shown({false, false, 80}));
}

TEST(UnmatchedFilter, NamesTheTagsThatThereAre) {
  EXPECT_EQ(why("tag=nosuch", {"request{route=/}", "query"}),
            "the filter matches none of the tags there: query, request{route=/}\n");
  EXPECT_EQ(why("tag=nosuch", {"a", "b", "c", "d", "e", "f", "g"}),
            "the filter matches none of the tags there: a, b, c, d, e and 2 more\n");
}

TEST(UnmatchedFilter, IsSilentIfNamesAreNotTheCause) {
  EXPECT_EQ(why("tag=request slower=9s", {"query", "request{route=/}"}), "");
  EXPECT_EQ(why("slower=9s", {"query"}), "");
  EXPECT_EQ(why("tag=nosuch", {}), "");
  EXPECT_EQ(why("tag=nosuch", {"queue"}, TraceType::Observe), "");
}

}  // namespace
}  // namespace pcp::trace::command
