// SPDX-License-Identifier: LGPL-2.1-or-later
#include "process/deliveries.hpp"

#include <cerrno>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "pcp/trace.h"

namespace pcp::trace::client {
namespace {

using namespace std::chrono_literals;

// A wait of this length fails by the test's time-out.
constexpr auto kForEver = 24h;

struct DeliveriesTest : testing::Test {
  Deliveries deliveries;
};

TEST_F(DeliveriesTest, WaitsForAnAttemptThatDoesNotEndOnlyOnce) {
  EXPECT_EQ(deliveries.report(false, 0s), PMTRACE_ERR_TIMEOUT);
  EXPECT_EQ(deliveries.report(false, kForEver), PMTRACE_ERR_TIMEOUT);
  deliveries.attempt_ended(0);
  EXPECT_EQ(deliveries.report(false, kForEver), 0);
}

TEST_F(DeliveriesTest, GivesTheLastErrorUntilAConnectionWasMadeAndNoneAfterIt) {
  EXPECT_EQ(deliveries.connection_outcome(), Deliveries::kUnknown);
  deliveries.attempt_ended(-ECONNREFUSED);
  EXPECT_EQ(deliveries.wait_for_first_attempt(kForEver), -ECONNREFUSED);
  deliveries.attempt_ended(-ETIMEDOUT);
  EXPECT_EQ(deliveries.connection_outcome(), -ETIMEDOUT);
  deliveries.attempt_ended(0);
  EXPECT_EQ(deliveries.connection_outcome(), 0);
  deliveries.attempt_ended(-ECONNREFUSED);
  EXPECT_EQ(deliveries.connection_outcome(), 0);
}

TEST_F(DeliveriesTest, WakesAllWhoWaitForTheFirstAttempt) {
  std::thread others[3];
  for (std::thread& other : others)
    other = std::thread([&] { EXPECT_EQ(deliveries.wait_for_first_attempt(kForEver), 0); });
  deliveries.attempt_ended(0);
  for (std::thread& other : others) other.join();
}

TEST_F(DeliveriesTest, ReportsAFailureToEveryCallerOrToTheFirstOnlyIfAsynchronous) {
  deliveries.attempt_ended(-ECONNREFUSED);
  for (const auto& [is_asynchronous, outcome] :
       {std::pair{true, -ECONNREFUSED}, {true, 0}, {false, -ECONNREFUSED}, {false, -ECONNREFUSED}})
    EXPECT_EQ(deliveries.report(is_asynchronous, kForEver), outcome);
}

TEST_F(DeliveriesTest, ADeliveryEndsWhenItsTicketIsSettled) {
  const std::uint64_t ticket = deliveries.request_delivery();
  std::thread flusher([&] { deliveries.settle(deliveries.requested(), true); });
  EXPECT_TRUE(deliveries.await(ticket, kForEver, Deliveries::Patience::Fixed));
  flusher.join();
}

TEST_F(DeliveriesTest, ADeliveryFailsIfItsTicketDoesAndNoLaterOne) {
  const std::uint64_t failed = deliveries.request_delivery();
  deliveries.settle(failed, false);
  EXPECT_FALSE(deliveries.await(failed, kForEver, Deliveries::Patience::Fixed));
  const std::uint64_t later = deliveries.request_delivery();
  deliveries.settle(later, true);
  EXPECT_TRUE(deliveries.await(later, kForEver, Deliveries::Patience::Fixed));
}

TEST_F(DeliveriesTest, AWaitGivesUpInTimeHoweverMuchHappensInVain) {
  const auto happens_again = [](Instant) { return true; };
  EXPECT_FALSE(deliveries.await(deliveries.request_delivery(), 20ms, Deliveries::Patience::Progress,
                                happens_again));
}

// Counts the parts that a wait takes. The first parts see progress.
int count_parts(Deliveries::Patience patience, int with_progress) {
  Deliveries deliveries;
  int parts = 0;
  const auto stand_still = [&](Instant) {  // as a machine on which only time passes
    if (parts++ < with_progress) deliveries.made_progress();
    return false;
  };
  EXPECT_FALSE(deliveries.await(deliveries.request_delivery(), 1ms, patience, stand_still));
  return parts;
}

// A machine that stood still uses up one part.
TEST_F(DeliveriesTest, APatientWaitGoesOnAsLongAsThereIsProgress) {
  EXPECT_EQ(count_parts(Deliveries::Patience::Fixed, 3), 1);
  EXPECT_EQ(count_parts(Deliveries::Patience::Progress, 3), 3 + Deliveries::kParts);
  EXPECT_EQ(count_parts(Deliveries::Patience::Progress, 0), Deliveries::kParts);
}

// The flusher may be busy when a wait begins, and then wait for an agent that has stopped.
TEST_F(DeliveriesTest, APatientWaitLastsNoLongerThanItsPartsAfterTheLastProgress) {
  constexpr auto kPatience = 100ms;
  std::vector<Duration> parts;
  const auto pause = [&](Instant until) {
    parts.push_back(until - steady_now());
    return false;
  };
  EXPECT_FALSE(deliveries.await(deliveries.request_delivery(), kPatience,
                                Deliveries::Patience::Progress, pause));
  for (const Duration part : parts) EXPECT_LE(part, kPatience / Deliveries::kParts);
}

// _exit() in a signal handler relies on this.
TEST_F(DeliveriesTest, AWaitThatPollsTakesNoLock) {
  const std::uint64_t ticket = deliveries.request_delivery();
  EXPECT_TRUE(deliveries.await(ticket, kForEver, Deliveries::Patience::Fixed, [&](Instant) {
    deliveries.settle(ticket, true);  // would block if the waiter held a lock
    return true;
  }));
}

}  // namespace
}  // namespace pcp::trace::client
