// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/spans/open_transactions.hpp"

#include <gtest/gtest.h>

#include "unit/command/text.hpp"

namespace pcp::trace::command {
namespace {

const Shown kPlain(Terminal{false, false, 80});

TEST(OpenTransactions, AreALineEach) {
  OpenTransactions open;
  open.tags = {{"saturn", "checkout", 3, 12.5, "4711/4715"}, {"saturn", "query", 1, 0.25, ""}};
  EXPECT_EQ(open_table(open, kPlain),
            "Open transactions                             number    oldest  process/thread\n"
            "checkout                                           3    12.5 s  4711/4715\n"
            "query                                              1    250 ms\n");
  EXPECT_EQ(
      open_json(open),
      "{\"host\":\"saturn\",\"tag\":\"checkout\",\"count\":3,\"oldest_s\":12.5,\"where\":"
      "\"4711/4715\"}\n"
      "{\"host\":\"saturn\",\"tag\":\"query\",\"count\":1,\"oldest_s\":0.25,\"where\":\"\"}\n");
}

TEST(OpenTransactions, NameTheirHostsIfThereAreSeveral) {
  OpenTransactions open;
  open.tags = {{"saturn", "checkout", 3, 12.5, "4711"}, {"jupiter", "query", 1, 0.25, "12"}};
  const std::string table = open_table(open, kPlain);
  EXPECT_TRUE(has(table, "  4711              saturn\n"));
  EXPECT_TRUE(has(table, "  12                jupiter\n"));
  EXPECT_EQ(open_table(open, Shown(Terminal{false, false, 60})),
            "Open transactions         number    oldest  host\n"
            "checkout                       3    12.5 s  saturn\n"
            "query                          1    250 ms  jupiter\n");
  EXPECT_EQ(open_table(open, Shown(Terminal{false, false, 40})),
            "Open transactions       number    oldest\n"
            "checkout                     3    12.5 s\n"
            "query                        1    250 ms\n");
}

TEST(OpenTransactions, AreNone) {
  EXPECT_EQ(open_table({}, kPlain), "Nothing is open.\n");
  OpenTransactions others;
  others.others = 8;
  EXPECT_EQ(open_table(others, kPlain), "No open transaction matches; other tags have 8.\n");
  OpenTransactions unknown;
  unknown.troubles = {"saturn: away"};
  EXPECT_EQ(open_table(unknown, kPlain), "");
}

}  // namespace
}  // namespace pcp::trace::command
