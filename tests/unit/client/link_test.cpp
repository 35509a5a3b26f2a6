#include "link.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <thread>

#include "pcp/trace.h"

namespace pcp::trace::client {
namespace {

using namespace std::chrono_literals;

// A wait that lasts so long has failed, by the test's time-out.
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

TEST(Link, AFlushEndsWhenItsTicketIsSettled) {
  Link link;
  bool woken = false;
  EXPECT_TRUE(link.flush(kForEver, false, [&] {
    woken = true;
    link.settle(link.requested(), true);
  }));
  EXPECT_TRUE(woken);
  EXPECT_FALSE(link.flush(kForEver, false, [&] { link.settle(link.requested(), false); }));
  EXPECT_TRUE(link.flush(kForEver, false, [&] { link.settle(link.requested(), true); }));
}

TEST(Link, AFlushGivesUpInTime) {
  Link link;
  EXPECT_FALSE(link.flush(1ms, false, [] {}));
}

TEST(Link, TheLastFlushDoesNotWaitForAnAgentThatIsAway) {
  Link link;
  link.set_agent(Link::Agent::Away);
  EXPECT_FALSE(link.flush(kForEver, true, [] {}));
  link.set_agent(Link::Agent::Connected);
  EXPECT_FALSE(link.flush(kForEver, true, [&] { link.set_agent(Link::Agent::Away); }));
}

}  // namespace
}  // namespace pcp::trace::client
