// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstdint>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "pcp/trace.h"

extern "C" std::uint64_t pcp_trace_to_word(const pmtrace_tx* tx);
extern "C" void pcp_trace_from_word(std::uint64_t word, pmtrace_handle tag, pmtrace_tx* tx);

namespace {

bool is_open(std::uint64_t word) {
  pmtrace_tx tx;
  pcp_trace_from_word(word, pmtrace_tag("one word"), &tx);
  return tx.opaque[0] != 0;
}

std::uint64_t begin() {
  pmtrace_tx tx;
  pmtrace_begin(pmtrace_tag("one word"), &tx);
  return pcp_trace_to_word(&tx);
}

// Sends to no agent; but without printing no transaction would begin.
struct OneWord : testing::Test {
  int before = pmtracestate(PMTRACE_STATE_NOAGENT | PMTRACE_STATE_API);
  ~OneWord() override { pmtracestate(before); }
};

TEST_F(OneWord, StandsForATransactionUntilThatEnds) {
  const std::uint64_t first = begin();
  const std::uint64_t second = begin();
  EXPECT_NE(first, second);
  pmtrace_tx tx;
  pcp_trace_from_word(first, pmtrace_tag("one word"), &tx);
  EXPECT_EQ(pcp_trace_to_word(&tx), first);
  EXPECT_EQ(pmtrace_end(&tx), 0);
  EXPECT_FALSE(is_open(first));
  EXPECT_TRUE(is_open(second));
  pcp_trace_from_word(second, pmtrace_tag("one word"), &tx);
  EXPECT_EQ(pmtrace_abort(&tx), 0);
  EXPECT_FALSE(is_open(second));
  EXPECT_EQ(pcp_trace_to_word(&tx), 0U);
}

TEST_F(OneWord, KeepsItsTrace) {
  constexpr const char* kParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const auto parent_of = [](std::uint64_t word) {
    pmtrace_tx tx;
    char parent[PMTRACE_CONTEXT_SIZE];
    pcp_trace_from_word(word, pmtrace_tag("one word"), &tx);
    pmtrace_context(&tx, parent, sizeof parent);
    return std::string(parent);
  };
  pmtrace_tx tx;
  const std::uint64_t plain = begin();
  pmtrace_begin_from(pmtrace_tag("one word"), &tx, kParent, nullptr);
  const std::uint64_t outer = pcp_trace_to_word(&tx);
  const std::uint64_t inner = begin();
  EXPECT_EQ(parent_of(outer), kParent);
  EXPECT_EQ(parent_of(inner), kParent);
  EXPECT_EQ(parent_of(plain), "");
  for (const std::uint64_t word : {inner, outer, plain}) {
    pcp_trace_from_word(word, pmtrace_tag("one word"), &tx);
    pmtrace_end(&tx);
    EXPECT_EQ(parent_of(word), "");
  }
  char parent[PMTRACE_CONTEXT_SIZE];
  EXPECT_EQ(pmtrace_context(nullptr, parent, sizeof parent), 0);  // the thread is in no trace
  const std::uint64_t after = begin();                            // reuses the place of another one
  EXPECT_EQ(parent_of(after), "");
  pcp_trace_from_word(after, pmtrace_tag("one word"), &tx);
  pmtrace_end(&tx);
}

TEST_F(OneWord, ThatStandsForNothingIsNotOpen) {
  const std::uint64_t own = begin();
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; ++i) EXPECT_FALSE(is_open(random()));
  for (const std::uint64_t word : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0},
                                   std::uint64_t{1} << 63, ~std::uint64_t{0} >> 1, own + 2})
    EXPECT_FALSE(is_open(word)) << word;
}

}  // namespace
