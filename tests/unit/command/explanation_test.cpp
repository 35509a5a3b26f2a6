// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/explanation.hpp"

#include <string>

#include <gtest/gtest.h>

#include "unit/command/made_tags.hpp"
#include "unit/command/text.hpp"

namespace pcp::trace::command {
namespace {

std::string explained(const HostFacts& facts, const std::string& filter) {
  return explanation(facts, *wire::parse_capture_filter(filter), Shown(Terminal{false, false, 80}));
}

HostFacts a_shop() {
  HostFacts facts;
  facts.host = "saturn";
  facts.clients = 2;
  facts.captures = 1;
  facts.captured = 0;
  facts.programs = {{11, "front", "shop"}, {12, "bank", "bank"}};
  facts.tags = {"checkout", "pay{zone=eu}"};
  return facts;
}

constexpr const char* kEnd =
    "  captures of all users there: 1; they have brought no span since the agent's start\n";

TEST(Explanation, IsThatNoProgramIsThere) {
  HostFacts facts = a_shop();
  facts.clients = 0;
  facts.programs.clear();
  EXPECT_EQ(explained(facts, "tag=*"),
            "no span has arrived yet. On saturn:\n"
            "  no program is connected to the agent\n"
            "  PCP_TRACE_DEBUG=api,comms in a program's environment tells whether it tries\n" +
                std::string(kEnd));
}

TEST(Explanation, IsThatNoTagOrNoProgramMatches) {
  const std::string programs =
      "no span has arrived yet. On saturn:\n  2 programs are connected to the agent\n";
  for (const auto& [filter, why] :
       {std::pair("tag=chekout", "none of the tags there: checkout, pay{zone=eu}"),
        {"pid=13 slower=1s", "no program; pids: 11, 12"}})  // nothing of tags of other programs
    EXPECT_EQ(explained(a_shop(), filter), programs + "  the filter matches " + why + "\n" + kEnd);
  for (const auto& [filter, what] :
       {std::pair("service=shpo tag=pay", "no program; services: bank, shop"),
        {"service=shop tag=pay", "1 program"},
        {"process=front", "1 program"},
        {"pid=12", "1 program"}})
    EXPECT_TRUE(
        has(explained(a_shop(), filter), "\n  the filter matches " + std::string(what) + "\n"));
}

TEST(Explanation, IsThatProgramsHaveAnotherLibrary) {
  HostFacts facts = a_shop();
  for (const auto& [clients, have] :
       {std::pair(std::uint64_t{5}, "3 programs have come in the last 5 s, or use"),
        {3, "1 program has come in the last 5 s, or uses"}}) {
    facts.clients = clients;
    EXPECT_TRUE(has(explained(facts, "tag=*"),
                    "\n  " + std::string(have) + " PCP's own library, which has no spans\n"));
  }
}

TEST(Explanation, IsThatNoneHasEnded) {
  EXPECT_TRUE(has(explained(a_shop(), "tag=pay slower=1s share=1%"),
                  "\n  tags match; transactions are shown when they end, and none was slow "
                  "enough, and share= takes few of them\n"));
  EXPECT_TRUE(has(explained(a_shop(), "tag=pay{zone=*} slower=1s"),
                  "\n  tags match; transactions are shown when they end, if they were slow enough\n"
                  "  tag= does not know labels that come after the begin: write tag=NAME, and "
                  "choose with label.KEY=VALUE of pcp-trace spans\n"));
  EXPECT_TRUE(has(explained(a_shop(), "tag=pay slower=1s failed"),
                  "\n  tags match; transactions are shown when they end, if they are slow enough "
                  "and fail\n"));
  HostFacts facts = a_shop();
  EXPECT_TRUE(has(explained(facts, "died"),
                  "\n  the agent has the black box of none of them: programs that are connected by "
                  "TCP have none, nor have those with an older library\n"));
  facts.boxes = 2;
  EXPECT_EQ(explained(facts, "tag=checkout died"),
            "waiting: a request is shown when a process dies in which it is open. On saturn:\n"
            "  2 programs are connected to the agent\n  tags match\n" +
                std::string(kEnd));
  facts.tags.clear();
  EXPECT_TRUE(has(explained(facts, "tag=pay"), "\n  no transaction has been traced there yet\n"));
}

TEST(Explanation, IsThatOneSeesOnesOwnProgramsOnly) {
  HostFacts facts = a_shop();
  facts.only_user = "nobody";
  EXPECT_TRUE(has(explained(facts, "tag=pay"),
                  "\n  you see only programs of your own user (nobody), root and PCP's user see "
                  "all\n  transactions are shown when they end\n"));
}

TEST(Explanation, NamesAFewOfMany) {
  HostFacts facts = a_shop();
  facts.tags.clear();
  for (char c = 'a'; c <= 'k'; ++c) facts.tags.push_back(std::string("tag-") + c);
  EXPECT_TRUE(has(explained(facts, "tag=x"), ": tag-a, tag-b, tag-c, tag-d, tag-e and 6 others\n"));
}

std::string why_unmatched(const std::string& filter, const std::vector<std::string>& names,
                          TraceType type = TraceType::Transact) {
  std::vector<Tag> tags;
  for (const std::string& name : names) tags.push_back(made_tag(type, name, 0));
  return unmatched_filter(filter, tags, Shown({false, false, 80}));
}

TEST(UnmatchedFilter, NamesTheTagsThatThereAre) {
  EXPECT_EQ(why_unmatched("tag=nosuch", {"request{route=/}", "query"}),
            "the filter matches none of the tags there: query, request{route=/}\n");
}

TEST(UnmatchedFilter, SaysThatLabelsMayHaveComeLate) {
  EXPECT_TRUE(
      has(why_unmatched("tag=request{route=/}", {"request{route=/}"}), " label.KEY=VALUE of "));
}

TEST(UnmatchedFilter, IsSilentIfNamesAreNotTheCause) {
  EXPECT_EQ(why_unmatched("tag=request slower=9s", {"query", "request{route=/}"}), "");
  EXPECT_EQ(why_unmatched("slower=9s", {"query"}), "");
  EXPECT_EQ(why_unmatched("tag=nosuch", {}), "");
  EXPECT_EQ(why_unmatched("tag=nosuch", {"queue"}, TraceType::Observe), "");
}

}  // namespace
}  // namespace pcp::trace::command
