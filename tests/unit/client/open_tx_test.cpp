// SPDX-License-Identifier: LGPL-2.1-or-later
// A transaction as the program has it: begun earlier than its begin, and packed into one word.
#include "api/open_tx.hpp"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "pcp/trace.hpp"

extern "C" std::uint64_t pcp_trace_to_word(const pmtrace_tx* tx);
extern "C" void pcp_trace_from_word(std::uint64_t word, pmtrace_handle tag, pmtrace_tx* tx);

namespace pcp::trace {
namespace {

using Begin = decltype(pmtrace_begin_at);

int begin_from_at(pmtrace_handle tag, std::uint64_t start_ns, pmtrace_tx* tx) {
  return pmtrace_begin_from_at(tag, start_ns, tx, nullptr, nullptr);
}
int begin_under_at(pmtrace_handle tag, std::uint64_t start_ns, pmtrace_tx* tx) {
  return pmtrace_begin_under_at(tag, start_ns, tx, nullptr);
}

// Sends to no agent, and prints; without printing no transaction would begin.
struct Printed : testing::Test {
  int before = pmtracestate(PMTRACE_STATE_NOAGENT | PMTRACE_STATE_API);
  ~Printed() override { pmtracestate(before); }
};

// By each end's seconds.
struct BeginAt : Printed {
  template <typename Call>
  static double seconds(Call call) {
    testing::internal::CaptureStderr();
    call();
    const std::string said = testing::internal::GetCapturedStderr();
    const std::size_t at = said.find("seconds ");
    return at != said.npos ? std::strtod(said.c_str() + at + 8, nullptr) : -1;
  }
  static double seconds_at(std::uint64_t start_ns, Begin* begin = pmtrace_begin_at) {
    return seconds([=] {
      pmtrace_tx tx;
      EXPECT_EQ(begin(pmtrace_tag("queued"), start_ns, &tx), 0);
      const client::Moment begun = client::read(&tx).begun.moment;
      EXPECT_TRUE((begun & 1) == 0 || begun <= client::moment_by_clock()) << "in the future";
      EXPECT_EQ(pmtrace_end(&tx), 0);
    });
  }
};

TEST_F(BeginAt, MeasuresSinceThen) {
  const std::uint64_t ns = now_ns() / 2;
  const double least = static_cast<double>(ns) * 1e-9;
  for (Begin* const begin : {pmtrace_begin_at, begin_from_at, begin_under_at}) {
    EXPECT_GE(seconds_at(ns, begin), least);
    EXPECT_GE(seconds_at(1, begin), least * 2 - 1e-6);
  }
  const Transaction tag{"queued"};
  EXPECT_GE(seconds([&] { tag.begin({.since = instant_at(ns)}).end(); }), least);
  EXPECT_GE(seconds([&] { tag.begin_from({}, {}, {.since = instant_at(ns)}).end(); }), least);
  EXPECT_GE(seconds([&] { tag.begin_under(Running(), {.since = instant_at(ns)}).end(); }), least);
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(instant_at(ns));
  EXPECT_GE(seconds([&] { tag.begin({ms}).end(); }), least);
}

TEST_F(BeginAt, IsNowIfThatIsNotInThePast) {
  const double long_ago = seconds_at(1);
  for (Begin* const begin : {pmtrace_begin_at, begin_from_at, begin_under_at}) {
    for (const std::uint64_t ns : {std::uint64_t{0}, now_ns() * 2, UINT64_MAX}) {
      EXPECT_GE(seconds_at(ns, begin), 0) << ns;
      EXPECT_LT(seconds_at(ns, begin), long_ago) << ns;
    }
  }
  EXPECT_LT(seconds([] { Transaction{"queued"}.begin({}).end(); }), long_ago);
}

using OneWord = Printed;

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
}  // namespace pcp::trace
