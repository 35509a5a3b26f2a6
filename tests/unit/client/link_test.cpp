// SPDX-License-Identifier: LGPL-2.1-or-later
#include "process/link.hpp"

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

TEST(Link, KnowsNothingBeforeTheFirstAttemptHasEnded) {
  Link link;
  EXPECT_EQ(link.first_connection(), Link::kUnknown);
}

TEST(Link, WaitsForAnAttemptThatDoesNotEndOnlyOnce) {
  Link link;
  EXPECT_EQ(link.report(false, 0s), PMTRACE_ERR_TIMEOUT);
  EXPECT_EQ(link.report(false, kForEver), PMTRACE_ERR_TIMEOUT);
  link.attempt_ended(0);
  EXPECT_EQ(link.report(false, kForEver), 0);
}

TEST(Link, GivesTheLastErrorUntilAConnectionWasMadeAndNoneAfterIt) {
  Link link;
  link.attempt_ended(-ECONNREFUSED);
  EXPECT_EQ(link.wait_for_first_attempt(kForEver), -ECONNREFUSED);
  link.attempt_ended(-ETIMEDOUT);
  EXPECT_EQ(link.first_connection(), -ETIMEDOUT);
  link.attempt_ended(0);
  EXPECT_EQ(link.first_connection(), 0);
  link.attempt_ended(-ECONNREFUSED);
  EXPECT_EQ(link.first_connection(), 0);
}

TEST(Link, WakesAllWhoWaitForTheFirstAttempt) {
  Link link;
  std::thread others[3];
  for (std::thread& other : others)
    other = std::thread([&] { EXPECT_EQ(link.wait_for_first_attempt(kForEver), 0); });
  link.attempt_ended(0);
  for (std::thread& other : others) other.join();
}

TEST(Link, ReportsAFailureToEveryCaller) {
  Link link;
  link.attempt_ended(-ECONNREFUSED);
  EXPECT_EQ(link.report(false, kForEver), -ECONNREFUSED);
  EXPECT_EQ(link.report(false, kForEver), -ECONNREFUSED);
}

TEST(Link, ReportsAFailureToTheFirstCallerOnlyIfAsynchronous) {
  Link link;
  link.attempt_ended(-ECONNREFUSED);
  EXPECT_EQ(link.report(true, kForEver), -ECONNREFUSED);
  EXPECT_EQ(link.report(true, kForEver), 0);
}

TEST(Link, ADeliveryEndsWhenItsTicketIsSettled) {
  Link link;
  const std::uint64_t ticket = link.request_delivery();
  std::thread flusher([&] { link.settle(link.requested(), true); });
  EXPECT_TRUE(link.await(ticket, kForEver, Link::Patience::Fixed));
  flusher.join();
}

TEST(Link, ADeliveryFailsIfItsTicketDoesAndNoLaterOne) {
  Link link;
  const std::uint64_t failed = link.request_delivery();
  link.settle(failed, false);
  EXPECT_FALSE(link.await(failed, kForEver, Link::Patience::Fixed));
  const std::uint64_t later = link.request_delivery();
  link.settle(later, true);
  EXPECT_TRUE(link.await(later, kForEver, Link::Patience::Fixed));
}

TEST(Link, AWaitGivesUpInTime) {
  Link link;
  EXPECT_FALSE(link.await(link.request_delivery(), 1ms, Link::Patience::Fixed));
  EXPECT_FALSE(link.await(link.request_delivery(), 1ms, Link::Patience::Progress));
}

TEST(Link, AWaitGivesUpInTimeHoweverMuchHappensInVain) {
  Link link;
  const auto happens_again = [](Instant) { return true; };
  EXPECT_FALSE(link.await(link.request_delivery(), 20ms, Link::Patience::Progress, happens_again));
}

TEST(Link, APatientWaitGoesOnAsLongAsThereIsProgress) {
  Link link;
  int pauses = 0;
  // Each pause uses up all the time.
  const auto pause = [&](Instant) {
    if (++pauses <= 3) link.made_progress();
    return false;
  };
  EXPECT_FALSE(link.await(link.request_delivery(), 1ms, Link::Patience::Fixed, pause));
  EXPECT_EQ(pauses, 1);
  pauses = 0;
  EXPECT_FALSE(link.await(link.request_delivery(), 1ms, Link::Patience::Progress, pause));
  EXPECT_EQ(pauses, 4);
}

// The flusher may be busy when a wait begins, and then wait for an agent that has stopped.
TEST(Link, TheTimeBeginsAnewWithTheLastProgressAndNotWhenItIsOver) {
  Link link;
  constexpr auto kPatience = 100ms;
  std::vector<Instant> ends;
  Instant progress_made;
  const auto pause = [&](Instant until) {
    if (ends.empty()) link.made_progress();
    if (ends.empty()) progress_made = steady_now();
    ends.push_back(until);
    while (steady_now() < until) continue;
    return false;
  };
  EXPECT_FALSE(link.await(link.request_delivery(), kPatience, Link::Patience::Progress, pause));
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_LE(ends[1], progress_made + kPatience);
}

// _exit() in a signal handler relies on this.
TEST(Link, AWaitThatPollsTakesNoLock) {
  Link link;
  const std::uint64_t ticket = link.request_delivery();
  EXPECT_TRUE(link.await(ticket, kForEver, Link::Patience::Fixed, [&](Instant) {
    link.settle(ticket, true);  // would block if the waiter held a lock
    return true;
  }));
}

}  // namespace
}  // namespace pcp::trace::client
