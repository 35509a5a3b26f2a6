// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/exemplars.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/command/span_samples.hpp"

namespace pcp::trace::command {
namespace {

constexpr WallTime kBegin{std::chrono::nanoseconds(kMoment)};
constexpr std::uint64_t kMinute = 60'000;  // ms, as many seconds as there are moments

SpanTrace request(std::uint64_t id, std::uint64_t begin_ms, std::uint64_t ms,
                  const std::string& tag = "request") {
  return trace_of({span_of(tag, 1, 0, begin_ms, ms, id)}, id);
}

SpanTrace failed(SpanTrace trace) {
  trace.spans[0].aborted = true;
  return trace;
}

class ExemplarsOf : public testing::Test {
 protected:
  std::vector<std::uint64_t> taken(const std::vector<SpanTrace>& others = {}) {
    return ids_of(exemplars_.take(others));
  }
  Exemplars exemplars_{kBegin, kBegin + std::chrono::milliseconds(kMinute)};
};

TEST_F(ExemplarsOf, AMomentAreItsSlowest) {
  exemplars_.add(request(1, 100, 9));
  exemplars_.add(request(2, 200, 10));  // all are of one size
  exemplars_.add(request(3, 5'300, 9));
  exemplars_.add(request(4, 5'400, 9));
  EXPECT_EQ(taken(), (std::vector<std::uint64_t>{2, 3}));
}

TEST_F(ExemplarsOf, AMomentAreItsSlowestFailedOneBesideTheSlowest) {
  for (const std::uint64_t id : {1U, 2U}) {  // all are of one size
    exemplars_.add(request(id, 100 * id, 122 - id, "request{status=" + std::to_string(id) + "}"));
    exemplars_.add(failed(request(2 + id, 100 * id + 50, 118 - id)));
  }
  EXPECT_EQ(taken(), (std::vector<std::uint64_t>{1, 3}));
}

TEST_F(ExemplarsOf, EachSizeHasOne) {
  for (const std::uint64_t ms : {1U, 2U, 4U, 5U, 8U, 100U}) exemplars_.add(request(ms, 0, ms));
  EXPECT_EQ(taken(), (std::vector<std::uint64_t>{1, 2, 4, 5, 8, 100}));
}

TEST_F(ExemplarsOf, AMomentKnowsTheFirstTagsAndTheRestTogether) {
  for (std::uint64_t i = 1; i <= 12; ++i)
    exemplars_.add(request(i, 100, 16 + i, "tag" + std::to_string(i)));
  // Some are also the slowest of their sizes.
  std::vector<std::uint64_t> all = taken();
  std::ranges::sort(all);
  EXPECT_EQ(all, (std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7, 9, 12}));
}

TEST_F(ExemplarsOf, TracesThatAreShownElsewhereAreNoExemplars) {
  exemplars_.add(request(1, 100, 8));
  exemplars_.add(request(2, 9'000, 80));
  EXPECT_EQ(taken({request(2, 9'000, 80)}), (std::vector<std::uint64_t>{1}));
}

TEST_F(ExemplarsOf, LateAndEmptyTracesAreNoExemplars) {
  SpanTrace late = request(1, 100, 8);
  late.is_late = true;
  exemplars_.add(late);
  SpanTrace events;
  events.spans = {point_of("miss", 1, 0)};
  exemplars_.add(events);
  EXPECT_EQ(taken(), std::vector<std::uint64_t>());
}

TEST_F(ExemplarsOf, TimesOutsideTheRunAreOfItsFirstAndLastMoment) {
  exemplars_.add(request(1, kMinute - 500, 102));
  exemplars_.add(request(2, kMinute + 500, 103));
  EXPECT_EQ(taken(), (std::vector<std::uint64_t>{2}));
  Exemplars without_length(kBegin, kBegin);
  without_length.add(request(3, 5, 5));
  EXPECT_EQ(ids_of(without_length.take({})), (std::vector<std::uint64_t>{3}));
}

TEST_F(ExemplarsOf, AnyInputHasABoundedSize) {
  const std::string note = "text=" + std::string(300, 'x');
  std::uint64_t id = 0;
  for (std::uint64_t second = 0; second < 60; ++second)
    for (std::uint64_t tag = 0; tag < 12; ++tag) {
      SpanTrace trace = request(++id, second * 1000, 1 + tag * tag * second,
                                "tag" + std::to_string(tag) + std::string(100, 'y'));
      for (std::uint64_t i = 2; i <= 100; ++i) {
        trace.spans.push_back(span_of("part", i, 1, second * 1000, 1, id));
        trace.spans.back().attributes = note;
      }
      exemplars_.add(tag % 2 == 0 ? failed(trace) : trace);
    }
  std::size_t bytes = 0;
  const std::vector<SpanTrace> all = exemplars_.take({});
  for (const SpanTrace& trace : all) {
    EXPECT_LE(trace.spans.size(), Exemplars::kSpansOfOne);
    EXPECT_EQ(trace.spans.size() + trace.spans_left_out, 100U);
    for (const SpanEvent& span : trace.spans) bytes += bytes_of(span);
  }
  EXPECT_GE(all.size(), Exemplars::kMoments * Exemplars::kTags - Exemplars::kTags);
  EXPECT_LE(all.size(), 2 * Exemplars::kMoments * Exemplars::kTags + 4 * 64);
  EXPECT_LE(bytes, all.size() * Exemplars::kBytesOfOne);
}

}  // namespace
}  // namespace pcp::trace::command
