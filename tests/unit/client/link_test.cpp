#include "link.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <thread>

namespace pcp::trace::client {
namespace {

using namespace std::chrono_literals;

// A wait that lasts so long has failed, by the test's time-out.
constexpr auto kForEver = 24h;

TEST(Link, KnowsNothingBeforeTheFirstAttemptHasEnded) {
  Link link;
  EXPECT_EQ(link.first_connection(), Link::kUnknown);
  EXPECT_EQ(link.wait_for_first_attempt(0s), Link::kUnknown);
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

TEST(Link, OnlyOneCallerIsTheFirstToReport) {
  Link link;
  EXPECT_TRUE(link.is_first_report());
  EXPECT_FALSE(link.is_first_report());
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
