// SPDX-License-Identifier: LGPL-2.1-or-later
#include "thread/doorbell.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace pcp::trace::client {
namespace {

// A doorbell with the descriptors that the flusher makes.
struct Bell : Doorbell {
  explicit Bell(EnsureFlusher ensure_flusher = [] { return true; }) : Doorbell(ensure_flusher) {
    renew();
  }
};

bool is_rung(const Doorbell& bell, int timeout_ms = 0) {
  pollfd entry{bell.descriptor(), POLLIN, 0};
  return ::poll(&entry, 1, timeout_ms) == 1;
}

TEST(Doorbell, OpensNothingUntilTheFlusherMakesItsDescriptors) {
  Doorbell bell;
  EXPECT_LT(bell.descriptor(), 0);
  bell.ring();
  EXPECT_FALSE(bell.is_rung());
  bell.renew();
  bell.ring();
  EXPECT_TRUE(is_rung(bell));
  EXPECT_TRUE(bell.is_rung());
  EXPECT_TRUE(bell.silence());
  EXPECT_FALSE(bell.silence());
}

TEST(Doorbell, WakesOnlyASleeperAndOnce) {
  Bell bell;
  bell.ring_if_asleep();
  EXPECT_FALSE(is_rung(bell));
  ASSERT_TRUE(bell.prepare_to_sleep());
  bell.ring_if_asleep();
  EXPECT_TRUE(is_rung(bell));
  EXPECT_FALSE(bell.silence());
  EXPECT_FALSE(is_rung(bell));
  bell.ring_if_asleep();
  EXPECT_FALSE(is_rung(bell));
}

TEST(Doorbell, SeesToItThatSomebodyHearsEachRing) {
  static int asked;
  static bool is_there;
  asked = 0;
  is_there = true;
  Bell bell([] {
    ++asked;
    return is_there;
  });
  bell.ring_if_asleep();
  EXPECT_EQ(asked, 0);
  bell.ring();
  EXPECT_EQ(asked, 1);
  is_there = false;
  bell.ring();
  bell.ring_if_asleep();  // no flusher came: each call asks again
  bell.ring_if_asleep();
  EXPECT_EQ(asked, 4);
  is_there = true;
  bell.ring_if_asleep();
  bell.ring_if_asleep();
  EXPECT_EQ(asked, 5);
}

TEST(Doorbell, AHandlersRingAsksNobody) {
  Bell bell([]() -> bool { throw "asked"; });
  bell.ring_only();
  EXPECT_TRUE(is_rung(bell));
  EXPECT_TRUE(bell.silence());
}

TEST(Doorbell, AFlusherThatLeavesIsAskedForByTheNextCall) {
  static int asked;
  asked = 0;
  Bell bell([] { return ++asked > 0; });
  bell.prepare_to_leave();
  bell.ring_if_asleep();
  EXPECT_EQ(asked, 1);
  EXPECT_TRUE(bell.is_rung());
}

TEST(Doorbell, IsStuckWhereTheProgramHasShutItDown) {
  Bell bell;
  bell.silence();
  EXPECT_FALSE(bell.is_stuck());
  ASSERT_EQ(::shutdown(bell.descriptor(), SHUT_RD), 0);
  EXPECT_FALSE(bell.silence());
  EXPECT_TRUE(bell.is_stuck());
}

TEST(Doorbell, IsLostNotStuckWhereTheProgramHasClosedTheOtherEnd) {
  Bell bell;
  ASSERT_EQ(::close_range(3, static_cast<unsigned>(bell.descriptor()) - 1, 0), 0);
  ASSERT_EQ(::close_range(static_cast<unsigned>(bell.descriptor()) + 1, ~0U, 0), 0);
  bell.silence();
  EXPECT_FALSE(bell.is_stuck());
  EXPECT_TRUE(bell.is_lost());
}

TEST(Doorbell, IsAwaitedWithoutPoll) {
  Bell bell;
  EXPECT_FALSE(bell.await_ring(std::chrono::nanoseconds(1)));
  bell.ring();
  EXPECT_TRUE(bell.await_ring(std::chrono::minutes(1)));
  bell.remove();
  EXPECT_FALSE(bell.await_ring(std::chrono::nanoseconds(1)));
}

// A meeting of two threads on two processors.
class Meeting {
 public:
  // True if both came at about the same time: no thread had to wait for a processor.
  bool arrive() {
    const int all = arrived_.fetch_add(1) / 2 * 2 + 2;
    for (int i = 0; arrived_.load() < all; ++i)
      if (i > 20'000) return wait_for(all);
    return true;
  }

 private:
  bool wait_for(int all) const {
    while (arrived_.load() < all) std::this_thread::yield();
    return false;
  }

  alignas(64) std::atomic<int> arrived_{0};
};

std::vector<int> processors() {
  cpu_set_t allowed;
  std::vector<int> found;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return found;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &allowed)) found.push_back(i);
  return found;
}

void stay_on(int processor) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(processor, &only);
  ASSERT_EQ(::sched_setaffinity(0, sizeof only, &only), 0);
}

// Sleep without a timer relies on this: either the last look before sleep sees an item in the box,
// or its caller rings. Here the caller has just written to lines that are in the other processor's
// cache, so its item leaves the processor long after it has looked at the bell.
TEST(Doorbell, NoItemIsLeftWithASleeper) {
  const std::vector<int> there = processors();
  if (there.size() < 2) GTEST_SKIP() << "needs two processors";
  struct alignas(64) Line {
    std::atomic<int> value{0};
  };
  Line box;
  std::array<Line, 48> busy;
  std::atomic<bool> caller_was_close{false};
  std::atomic<bool> done{false};
  Bell bell;
  Meeting meeting;

  std::thread caller([&] {
    stay_on(there[0]);
    for (int i = 1; meeting.arrive(), !done; ++i) {
      bell.ring_if_asleep();  // nobody sleeps, but now the bell is in this processor's cache
      const bool is_close = meeting.arrive();
      for (Line& line : busy) line.value.store(i, std::memory_order_relaxed);
      box.value.store(i, std::memory_order_relaxed);
      bell.ring_if_asleep();
      caller_was_close = is_close;
      meeting.arrive();
    }
  });

  const auto an_item_is_left = [&](int i, int& close) {
    for (Line& line : busy) line.value.store(-i, std::memory_order_relaxed);
    meeting.arrive();
    EXPECT_EQ(box.value.load(std::memory_order_relaxed), i - 1);
    const bool is_close = meeting.arrive();
    for (volatile int wait = i % 32; wait > 0;) wait = wait - 1;
    EXPECT_TRUE(bell.prepare_to_sleep());
    const bool is_seen = box.value.load(std::memory_order_relaxed) == i;
    meeting.arrive();
    const bool is_left = !is_seen && !is_rung(bell);
    close += is_close && caller_was_close;
    bell.silence();
    bell.stay_awake();
    return is_left;
  };
  std::thread flusher([&] {
    stay_on(there[1]);
    int left = 0;
    int close = 0;
    for (int i = 1; close < 300; ++i) left += an_item_is_left(i, close);
    EXPECT_EQ(left, 0);
    done = true;
    meeting.arrive();
  });
  caller.join();
  flusher.join();
}

}  // namespace
}  // namespace pcp::trace::client
