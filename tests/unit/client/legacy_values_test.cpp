// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "counts/legacy_session.hpp"
#include "deltas.hpp"
#include "wire/batch.hpp"
#include "wire/frame.hpp"

namespace pcp::trace::client {
namespace {

std::vector<double> take_all(TraceType type, Delta delta) {
  std::vector<double> values;
  while (delta.count > 0) values.push_back(take_legacy_value(type, delta));
  return values;
}

TEST(LegacyValues, AreThoseThatTheTypeCanHave) {
  using Values = std::vector<double>;
  EXPECT_EQ(take_all(TraceType::Transact, delta_of({0.25, 0.25, 0.25})),
            (Values{0.25, 0.25, 0.25}));
  EXPECT_EQ(take_all(TraceType::Observe, delta_of({5, 9, 7})), (Values{7, 7, 7}));
  EXPECT_EQ(take_all(TraceType::Point, {.count = 2}), (Values{-1, -1}));
}

TEST(LegacyValues, ATransactionsDeltaKeepsCountSumMinimumAndMaximum) {
  std::mt19937 random(7);
  std::exponential_distribution<double> duration(3.0);
  for (std::size_t n : {1u, 2u, 3u, 4u, 100u, 5000u}) {
    std::vector<double> values(n);
    std::generate(values.begin(), values.end(), [&] { return duration(random); });
    const Delta delta = delta_of(values);
    const std::vector<double> sent = take_all(TraceType::Transact, delta);
    ASSERT_EQ(sent.size(), n);
    const auto [least, most] = std::minmax_element(sent.begin(), sent.end());
    EXPECT_EQ(*least, delta.min);
    EXPECT_EQ(*most, delta.max);
    EXPECT_NEAR(std::accumulate(sent.begin(), sent.end(), 0.0), delta.sum, 1e-9 * delta.sum);
  }
}

// A stock agent may take some of a delta's values, and our agent the rest.
TEST(LegacyValues, WhatIsLeftIsADeltaThatOurAgentTakes) {
  for (const std::vector<double>& values :
       {std::vector<double>(10, 0.1), std::vector<double>(1000, 1e-7), {1, 2, 10}, {10, 1, 2}}) {
    Delta delta = delta_of(values);
    while (delta.count > 1) {
      take_legacy_value(TraceType::Transact, delta);
      std::string body;
      std::string pdu;
      wire::append_delta(body, 1, TraceType::Transact, delta, {});
      wire::append_batch(pdu, 1, 1, {}, body);
      wire::Batch batch;
      ASSERT_TRUE(wire::decode_batch(std::string_view(pdu).substr(wire::kHeaderBytes), batch))
          << delta.count << " left: " << delta.min << ' ' << delta.last << ' ' << delta.max;
    }
  }
}

}  // namespace
}  // namespace pcp::trace::client
