// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/span_monitors.hpp"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "metrics/pmapi.hpp"

namespace pcp::trace::agent {
namespace {

using namespace std::chrono_literals;

constexpr int kRoot = 1;  // contexts
constexpr int kOther = 2;
constexpr int kAlice = 3;
constexpr int kStranger = 4;
constexpr std::uint32_t kAlicesUid = 1000;

std::vector<std::string> log_lines;

class SpanMonitorsTest : public testing::Test {
 protected:
  SpanMonitorsTest() {
    log_lines.clear();
    note(kRoot, "0");
    note(kOther, "0");
    note(kAlice, "1000");
  }

  void note(int context, const char* uid) {
    privileges_.note_user(context, uid);
    privileges_.note_process(context, std::to_string(getpid()).c_str());
  }

  // These give 0 or an error.
  int ask(int context, const std::string& filter) {
    return monitors_.store_own_filter(context, filter, now_);
  }
  int ask_for_all(const std::string& filter) { return monitors_.store_common_filter(filter, now_); }

  // Has so many contexts of the user, from 100 on, ask for different spans.
  void ask_as(const char* uid, int count) {
    for (int context = 100; context < 100 + count; ++context) {
      note(context, uid);
      EXPECT_EQ(ask(context, "pid=" + std::to_string(context)), 0);
    }
  }

  void send_spans(std::size_t count) {
    std::vector<StoredSpan> spans(count);
    for (StoredSpan& span : spans) span.capture_bits = 1;
    spans_.add(spans, spans_.number(), {kAlicesUid, "alice"});
  }

  SpanAsker fetch(int context) {
    monitors_.set_asking(context);
    return monitors_.asker(now_);
  }

  std::vector<std::string> captured() const {
    std::vector<std::string> filters;
    const auto captures = spans_.captures();
    for (std::size_t bit = 0; bit < wire::kMaxCaptures; ++bit)
      if (captures->at(bit).id != 0) filters.push_back(captures->at(bit).filter);
    return filters;
  }

  using Filters = std::vector<std::string>;

  Instant now_{1h};
  SharedSpans spans_;
  Privileges privileges_{{0}};
  SpanMonitors monitors_{spans_, privileges_, "",
                         [](const std::string& line) { log_lines.push_back(line); }};
};

TEST_F(SpanMonitorsTest, SeeWhatTheyAskFor) {
  EXPECT_EQ(fetch(kRoot).monitor, nullptr);
  EXPECT_EQ(fetch(kRoot).error, 0);
  EXPECT_EQ(captured(), Filters{});
  EXPECT_EQ(ask(kRoot, "limit=5/s tag=a"), 0);
  EXPECT_EQ(captured(), Filters{"tag=a limit=5/s"});
  EXPECT_NE(fetch(kRoot).monitor, nullptr);
  EXPECT_EQ(fetch(kOther).monitor, nullptr);
  EXPECT_EQ(ask(kRoot, "tag=b"), 0);
  EXPECT_EQ(captured(), Filters{"tag=b limit=1000/s"});
  EXPECT_EQ(ask(kRoot, ""), 0);
  EXPECT_EQ(captured(), Filters{});
  ask_for_all("tag=a");
  ask(kRoot, "tag=b");
  ask(kRoot, "");
  EXPECT_EQ(captured(), Filters{"tag=a limit=1000/s"});
}

TEST_F(SpanMonitorsTest, WithoutAFilterSeeTheCommonOneOnceTheyFetch) {
  EXPECT_EQ(ask_for_all("tag=a"), 0);
  EXPECT_EQ(monitors_.controls().filter, "tag=a limit=1000/s");
  EXPECT_EQ(captured(), Filters{});
  EXPECT_NE(fetch(kRoot).monitor, nullptr);
  EXPECT_EQ(captured(), Filters{"tag=a limit=1000/s"});
  EXPECT_EQ(ask_for_all("tag=b"), 0);
  EXPECT_EQ(captured(), Filters{"tag=b limit=1000/s"});
  EXPECT_EQ(ask_for_all(" "), 0);
  EXPECT_EQ(captured(), Filters{});
  EXPECT_EQ(fetch(kRoot).monitor, nullptr);
}

TEST_F(SpanMonitorsTest, ThatAskForTheSameAgainLoseNothing) {
  ask(kRoot, "tag=a limit=1000/s");
  ask_for_all("tag=a");
  EXPECT_NE(fetch(kOther).monitor, nullptr);
  send_spans(3);
  ask(kRoot, "tag=a");
  ask_for_all(" tag=a");
  EXPECT_EQ(fetch(kRoot).monitor->waiting(), 3u);
  EXPECT_EQ(fetch(kOther).monitor->waiting(), 3u);
  ask(kRoot, "");  // the common filter is the same
  EXPECT_EQ(fetch(kRoot).monitor->waiting(), 3u);
  ask(kRoot, "tag=b");
  EXPECT_EQ(fetch(kRoot).monitor->waiting(), 0u);
}

TEST_F(SpanMonitorsTest, AreToldOfAFilterThatMakesNoSense) {
  EXPECT_EQ(ask(kRoot, "tag=a"), 0);
  EXPECT_EQ(ask(kRoot, "tga=b"), PM_ERR_BADSTORE);
  EXPECT_EQ(captured(), Filters{"tag=a limit=1000/s"});
  ASSERT_EQ(log_lines.size(), 1u);
  EXPECT_NE(log_lines[0].find("tga"), std::string::npos) << log_lines[0];
  EXPECT_EQ(ask_for_all("slower=10"), PM_ERR_BADSTORE);
  EXPECT_EQ(monitors_.controls().filter, "");
}

TEST_F(SpanMonitorsTest, SeeTheirOwnUsersProgramsUnlessTheyArePrivileged) {
  EXPECT_EQ(ask(kAlice, "tag=a"), 0);
  EXPECT_EQ(spans_.captures()->at(0).audience, Audience{kAlicesUid});
  EXPECT_EQ(ask(kRoot, "tag=a"), 0);
  EXPECT_EQ(spans_.captures()->at(1).audience, Audience{});
}

TEST_F(SpanMonitorsTest, OfOtherHostsSeeNone) {
  EXPECT_EQ(ask(kStranger, "tag=a"), PM_ERR_PERMISSION);
  EXPECT_EQ(ask(kStranger, "tga=a"), PM_ERR_PERMISSION);
  EXPECT_EQ(log_lines.size(), 0u);
  EXPECT_EQ(fetch(kStranger).error, 0);
  EXPECT_EQ(ask_for_all("tag=a"), 0);
  EXPECT_EQ(fetch(kStranger).error, PM_ERR_PERMISSION);
  EXPECT_EQ(captured(), Filters{});
}

TEST_F(SpanMonitorsTest, MayNotAllAskForSomethingElse) {
  ask_as("0", 32);
  EXPECT_EQ(ask(kRoot, "tag=a"), -EUSERS);
  EXPECT_EQ(log_lines.size(), 1u);
  monitors_.forget(100);
  EXPECT_EQ(ask(kRoot, "tag=a"), 0);
}

TEST_F(SpanMonitorsTest, OfOneUserAreToldThatTheyHaveAskedForAllThatHeMay) {
  ask_as("1000", 4);
  EXPECT_EQ(ask(kAlice, "tag=a"), -EDQUOT);
  ASSERT_EQ(log_lines.size(), 1u);
  EXPECT_NE(log_lines[0].find("its user"), std::string::npos) << log_lines[0];
  EXPECT_EQ(ask(kRoot, "tag=a"), 0);
}

TEST_F(SpanMonitorsTest, LeaveNothingBehind) {
  ask(kRoot, "tag=a");
  monitors_.forget(kRoot);
  EXPECT_EQ(captured(), Filters{});
  EXPECT_EQ(fetch(kRoot).monitor, nullptr);  // a new context with the same number
}

TEST_F(SpanMonitorsTest, ThatAreIdleHaveNothingCaptured) {
  EXPECT_EQ(monitors_.store_idle(10), 0);
  EXPECT_EQ(monitors_.end_idle(now_), std::nullopt);
  EXPECT_EQ(ask(kRoot, "tag=a"), 0);
  EXPECT_EQ(monitors_.end_idle(now_), now_ + 10s);
  now_ += 9s;
  fetch(kRoot);
  now_ += 9s;
  EXPECT_EQ(monitors_.end_idle(now_), now_ + 1s);
  now_ += 1s;
  EXPECT_EQ(monitors_.end_idle(now_), std::nullopt);
  EXPECT_EQ(captured(), Filters{});
  EXPECT_NE(fetch(kRoot).monitor, nullptr);  // its filter is as before
  EXPECT_EQ(captured(), Filters{"tag=a limit=1000/s"});
}

TEST_F(SpanMonitorsTest, AreAsIdleAsBeforeWithANewCommonFilter) {
  EXPECT_EQ(monitors_.store_idle(10), 0);
  EXPECT_EQ(ask_for_all("tag=a"), 0);
  fetch(kRoot);
  now_ += 9s;
  EXPECT_EQ(ask_for_all("tag=b"), 0);
  EXPECT_EQ(monitors_.end_idle(now_), now_ + 1s);
}

TEST_F(SpanMonitorsTest, LearnHowOftenTheyWereIdle) {
  EXPECT_EQ(ask(kRoot, "tag=a"), 0);
  EXPECT_EQ(ask(kOther, "tag=a"), 0);
  for (std::uint32_t times = 0; times < 3; ++times) {
    fetch(kOther);
    fetch(kRoot);
    EXPECT_EQ(monitors_.controls().lapses, times);
    for (int second = 0; second < 100; ++second) {
      now_ += 1s;
      fetch(kOther);
      monitors_.end_idle(now_);
    }
    EXPECT_EQ(monitors_.controls().lapses, 0u);
  }
  monitors_.forget(kRoot);
  monitors_.set_asking(kRoot);
  EXPECT_EQ(monitors_.controls().lapses, 0u);
}

TEST_F(SpanMonitorsTest, GetNoMoreAtATimeThanPmcdCanPassOn) {
  EXPECT_EQ(monitors_.controls().fetch_bytes, 131'072u);
  EXPECT_EQ(fetch(kRoot).most_bytes, 131'072u);
  EXPECT_EQ(monitors_.store_fetch_bytes(1u << 20), 0);
  EXPECT_EQ(fetch(kRoot).most_bytes, 163'840u);
  EXPECT_EQ(fetch(kStranger).most_bytes, 1u << 20);
  EXPECT_EQ(monitors_.store_fetch_bytes(1000), PM_ERR_BADSTORE);
  EXPECT_EQ(monitors_.store_fetch_bytes(16u << 20), PM_ERR_BADSTORE);
  EXPECT_EQ(monitors_.controls().fetch_bytes, 1u << 20);
}

TEST_F(SpanMonitorsTest, AreToldHowMuchIsWaitingForThem) {
  ask(kRoot, "tag=a");
  send_spans(7);
  monitors_.set_asking(kRoot);
  EXPECT_EQ(monitors_.controls().backlog, 7u);
  monitors_.set_asking(kOther);
  EXPECT_EQ(monitors_.controls().backlog, 0u);
}

TEST_F(SpanMonitorsTest, MaySetTheMemory) {
  EXPECT_EQ(monitors_.controls().memory_bytes, 64u << 20);
  EXPECT_EQ(monitors_.store_memory(2u << 20), 0);
  EXPECT_EQ(spans_.most_bytes(), 2u << 20);
  EXPECT_EQ(monitors_.store_memory(0), PM_ERR_BADSTORE);
}

TEST_F(SpanMonitorsTest, WantedTraces_AreTakenOnceAndNotByWhoBroughtThem) {
  ask(kRoot, "tag=a slower=1s");
  ask(kOther, "tag=b slower=1s");
  const auto wanted_for = [&](int context) {
    monitors_.set_asking(context);
    return monitors_.take_wanted();
  };
  spans_.want(std::vector<wire::WantedTrace>{{0x5, 1}, {0xabc, 3}}, spans_.number());
  EXPECT_EQ(monitors_.store_wanted(kRoot, "0000000000000007 ffffffffffffffff", now_), 0);
  EXPECT_EQ(wanted_for(kRoot), "0000000000000005 0000000000000abc");
  EXPECT_EQ(wanted_for(kRoot), "");
  EXPECT_EQ(wanted_for(kOther), "0000000000000abc");
  EXPECT_EQ(wanted_for(kAlice), "");
  std::uint64_t number = 2;
  bool has_lost = false;
  const std::vector<Wanted> stored = spans_.wanted_from(number, has_lost);
  ASSERT_EQ(stored.size(), 2U);
  EXPECT_EQ(stored[1].trace, (wire::WantedTrace{UINT64_MAX, 1}));
}

// So nothing goes around between monitors for ever.
TEST_F(SpanMonitorsTest, WantedTraces_GoThroughTwoMonitorsAtMost) {
  constexpr int kThird = 5;
  note(kThird, "0");
  for (const int context : {kRoot, kOther, kThird}) ask(context, "tag=a slower=1s");
  const auto wanted_for = [&](int context) {
    monitors_.set_asking(context);
    return monitors_.take_wanted();
  };
  EXPECT_EQ(monitors_.store_wanted(kRoot, "7 8+", now_), 0);
  EXPECT_EQ(wanted_for(kRoot), "");
  EXPECT_EQ(wanted_for(kOther), "0000000000000007+");
  EXPECT_EQ(monitors_.store_wanted(kOther, "7 8", now_), 0);  // 8 comes a shorter way
  EXPECT_EQ(wanted_for(kRoot), "0000000000000008+");
  EXPECT_EQ(wanted_for(kOther), "");
  EXPECT_EQ(wanted_for(kThird), "0000000000000007+ 0000000000000008+");
}

TEST_F(SpanMonitorsTest, WantedTraces_CountAsMissedIfFewerAreTakenThanCome) {
  ask(kRoot, "tag=a slower=1s");
  std::vector<wire::WantedTrace> many(WantedTraces::kMost, {0, 1});
  std::uint64_t hash = 0;
  for (int round = 0; round < 2; ++round) {
    for (wire::WantedTrace& each : many) each.hash = ++hash;
    spans_.want(many, spans_.number());
    monitors_.set_asking(kRoot);
    EXPECT_EQ(monitors_.take_wanted().size(),
              1'000 * std::string_view("0000000000000001 ").size() - 1);
  }
  EXPECT_EQ(spans_.totals().missed[static_cast<std::size_t>(MissedCause::Away)],
            WantedTraces::kMost - 1'000);
}

TEST_F(SpanMonitorsTest, WantedTraces_AreRefusedWithoutACaptureAndBeyondALimit) {
  EXPECT_EQ(monitors_.store_wanted(kRoot, "7", now_), PM_ERR_PERMISSION);
  ask(kRoot, "tag=a slower=1s");
  for (const char* const wrong : {" 7", "7x", "x", "7+8", "7++", "+", "11112222333344445", "-7"})
    EXPECT_EQ(monitors_.store_wanted(kRoot, wrong, now_), PM_ERR_BADSTORE) << wrong;
  std::string many;
  for (int i = 0; i < 1'000; ++i) many += "7 ";
  EXPECT_EQ(monitors_.store_wanted(kRoot, many + "7", now_), PM_ERR_BADSTORE);
  for (int times = 0; times < 2; ++times) EXPECT_EQ(monitors_.store_wanted(kRoot, many, now_), 0);
  EXPECT_EQ(monitors_.store_wanted(kRoot, "7", now_), -EDQUOT);
  EXPECT_EQ(monitors_.store_wanted(kRoot, "7", now_ + 1s), 0);
}

}  // namespace
}  // namespace pcp::trace::agent
