// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/spans/trace_relay.hpp"

#include <string>

#include <gtest/gtest.h>

namespace pcp::trace::command {
namespace {

std::string all_for(TraceRelay& relay, std::size_t host) { return text_of(relay.take(host)); }

TEST(TraceRelay, TellsEachOtherHostOfATraceOnce) {
  TraceRelay relay(3);
  relay.pass_on(0, "a1 b2+");
  relay.pass_on(1, "a1 a1+ c3+");  // both hosts want it
  EXPECT_EQ(all_for(relay, 0), "c3+");
  EXPECT_EQ(all_for(relay, 1), "a1 b2+");
  EXPECT_EQ(all_for(relay, 2), "a1 b2+ c3+");
  EXPECT_EQ(all_for(relay, 2), "");
  relay.pass_on(0, "b2");  // the next monitor passes it on, too
  EXPECT_EQ(all_for(relay, 2), "b2");
}

TEST(TraceRelay, IgnoresWhatIsNoTrace) {
  TraceRelay relay(2);
  relay.pass_on(0, "  + x ABC 11112222333344445 7++ 7 -1 a\n");
  EXPECT_EQ(all_for(relay, 1), "7");
}

TEST(TraceRelay, KeepsWhatAHostCannotTakeAndTellsWhatIsLost) {
  TraceRelay relay(2);
  std::string text;
  for (std::size_t i = 1; i <= TraceRelay::kMostWaiting; ++i) text += std::to_string(i) + ' ';
  relay.pass_on(0, text);
  TraceRelay::Traces taken = relay.take(1);
  EXPECT_EQ(taken.size(), TraceRelay::kMostAtOnce);
  relay.put_back(1, taken);
  EXPECT_FALSE(relay.take_lost(1));
  EXPECT_EQ(relay.take(1), taken);
  relay.pass_on(0, "aaaa");
  relay.put_back(1, taken);  // there is no room for its first one
  EXPECT_FALSE(relay.take_lost(0));
  EXPECT_TRUE(relay.take_lost(1));
  EXPECT_FALSE(relay.take_lost(1));
  EXPECT_EQ(relay.take(1).front(), "2");
  std::size_t left = 0;
  for (; !taken.empty(); taken = relay.take(1)) left += taken.size();
  EXPECT_EQ(left, TraceRelay::kMostWaiting);
  relay.note_lost(1);
  EXPECT_TRUE(relay.take_lost(1));
}

TEST(TraceRelay, RemembersTheLastTraces) {
  TraceRelay relay(2);
  for (std::size_t i = 0; i <= TraceRelay::kMostKnown; ++i) {
    relay.pass_on(0, std::to_string(i));
    relay.take(1);
  }
  relay.pass_on(0, "1 0");
  EXPECT_EQ(all_for(relay, 1), "0");
}

}  // namespace
}  // namespace pcp::trace::command
