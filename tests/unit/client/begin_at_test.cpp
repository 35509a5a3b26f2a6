// SPDX-License-Identifier: LGPL-2.1-or-later
// Transactions that began before their begin.
#include <chrono>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "api/open_tx.hpp"
#include "base/clock.hpp"
#include "pcp/trace.hpp"

namespace pcp::trace {
namespace {

using Begin = decltype(pmtrace_begin_at);

int begin_from_at(pmtrace_handle tag, std::uint64_t start_ns, pmtrace_tx* tx) {
  return pmtrace_begin_from_at(tag, start_ns, tx, nullptr, nullptr);
}
int begin_under_at(pmtrace_handle tag, std::uint64_t start_ns, pmtrace_tx* tx) {
  return pmtrace_begin_under_at(tag, start_ns, tx, nullptr);
}

// Prints each end's seconds.
struct BeginAt : testing::Test {
  int before = pmtracestate(PMTRACE_STATE_NOAGENT | PMTRACE_STATE_API);
  ~BeginAt() override { pmtracestate(before); }

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

}  // namespace
}  // namespace pcp::trace
