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

TEST(Deliveries, KnowsNothingBeforeTheFirstAttemptHasEnded) {
  Deliveries deliveries;
  EXPECT_EQ(deliveries.first_connection(), Deliveries::kUnknown);
}

TEST(Deliveries, WaitsForAnAttemptThatDoesNotEndOnlyOnce) {
  Deliveries deliveries;
  EXPECT_EQ(deliveries.report(false, 0s), PMTRACE_ERR_TIMEOUT);
  EXPECT_EQ(deliveries.report(false, kForEver), PMTRACE_ERR_TIMEOUT);
  deliveries.attempt_ended(0);
  EXPECT_EQ(deliveries.report(false, kForEver), 0);
}

TEST(Deliveries, GivesTheLastErrorUntilAConnectionWasMadeAndNoneAfterIt) {
  Deliveries deliveries;
  deliveries.attempt_ended(-ECONNREFUSED);
  EXPECT_EQ(deliveries.wait_for_first_attempt(kForEver), -ECONNREFUSED);
  deliveries.attempt_ended(-ETIMEDOUT);
  EXPECT_EQ(deliveries.first_connection(), -ETIMEDOUT);
  deliveries.attempt_ended(0);
  EXPECT_EQ(deliveries.first_connection(), 0);
  deliveries.attempt_ended(-ECONNREFUSED);
  EXPECT_EQ(deliveries.first_connection(), 0);
}

TEST(Deliveries, WakesAllWhoWaitForTheFirstAttempt) {
  Deliveries deliveries;
  std::thread others[3];
  for (std::thread& other : others)
    other = std::thread([&] { EXPECT_EQ(deliveries.wait_for_first_attempt(kForEver), 0); });
  deliveries.attempt_ended(0);
  for (std::thread& other : others) other.join();
}

TEST(Deliveries, ReportsAFailureToEveryCaller) {
  Deliveries deliveries;
  deliveries.attempt_ended(-ECONNREFUSED);
  EXPECT_EQ(deliveries.report(false, kForEver), -ECONNREFUSED);
  EXPECT_EQ(deliveries.report(false, kForEver), -ECONNREFUSED);
}

TEST(Deliveries, ReportsAFailureToTheFirstCallerOnlyIfAsynchronous) {
  Deliveries deliveries;
  deliveries.attempt_ended(-ECONNREFUSED);
  EXPECT_EQ(deliveries.report(true, kForEver), -ECONNREFUSED);
  EXPECT_EQ(deliveries.report(true, kForEver), 0);
}

TEST(Deliveries, ADeliveryEndsWhenItsTicketIsSettled) {
  Deliveries deliveries;
  const std::uint64_t ticket = deliveries.request_delivery();
  std::thread flusher([&] { deliveries.settle(deliveries.requested(), true); });
  EXPECT_TRUE(deliveries.await(ticket, kForEver, Deliveries::Patience::Fixed));
  flusher.join();
}

TEST(Deliveries, ADeliveryFailsIfItsTicketDoesAndNoLaterOne) {
  Deliveries deliveries;
  const std::uint64_t failed = deliveries.request_delivery();
  deliveries.settle(failed, false);
  EXPECT_FALSE(deliveries.await(failed, kForEver, Deliveries::Patience::Fixed));
  const std::uint64_t later = deliveries.request_delivery();
  deliveries.settle(later, true);
  EXPECT_TRUE(deliveries.await(later, kForEver, Deliveries::Patience::Fixed));
}

TEST(Deliveries, AWaitGivesUpInTime) {
  Deliveries deliveries;
  EXPECT_FALSE(deliveries.await(deliveries.request_delivery(), 1ms, Deliveries::Patience::Fixed));
  EXPECT_FALSE(
      deliveries.await(deliveries.request_delivery(), 1ms, Deliveries::Patience::Progress));
}

TEST(Deliveries, AWaitGivesUpInTimeHoweverMuchHappensInVain) {
  Deliveries deliveries;
  const auto happens_again = [](Instant) { return true; };
  EXPECT_FALSE(deliveries.await(deliveries.request_delivery(), 20ms, Deliveries::Patience::Progress,
                                happens_again));
}

TEST(Deliveries, APatientWaitGoesOnAsLongAsThereIsProgress) {
  Deliveries deliveries;
  int pauses = 0;
  // Each pause uses up all the time.
  const auto pause = [&](Instant) {
    if (++pauses <= 3) deliveries.made_progress();
    return false;
  };
  EXPECT_FALSE(
      deliveries.await(deliveries.request_delivery(), 1ms, Deliveries::Patience::Fixed, pause));
  EXPECT_EQ(pauses, 1);
  pauses = 0;
  EXPECT_FALSE(
      deliveries.await(deliveries.request_delivery(), 1ms, Deliveries::Patience::Progress, pause));
  EXPECT_EQ(pauses, 4);
}

// The flusher may be busy when a wait begins, and then wait for an agent that has stopped.
TEST(Deliveries, TheTimeBeginsAnewWithTheLastProgressAndNotWhenItIsOver) {
  Deliveries deliveries;
  constexpr auto kPatience = 100ms;
  std::vector<Instant> ends;
  Instant progress_made;
  const auto pause = [&](Instant until) {
    if (ends.empty()) deliveries.made_progress();
    if (ends.empty()) progress_made = steady_now();
    ends.push_back(until);
    while (steady_now() < until) continue;
    return false;
  };
  EXPECT_FALSE(deliveries.await(deliveries.request_delivery(), kPatience,
                                Deliveries::Patience::Progress, pause));
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_LE(ends[1], progress_made + kPatience);
}

// _exit() in a signal handler relies on this.
TEST(Deliveries, AWaitThatPollsTakesNoLock) {
  Deliveries deliveries;
  const std::uint64_t ticket = deliveries.request_delivery();
  EXPECT_TRUE(deliveries.await(ticket, kForEver, Deliveries::Patience::Fixed, [&](Instant) {
    deliveries.settle(ticket, true);  // would block if the waiter held a lock
    return true;
  }));
}

}  // namespace
}  // namespace pcp::trace::client
