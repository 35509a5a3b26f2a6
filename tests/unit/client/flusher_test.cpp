// SPDX-License-Identifier: LGPL-2.1-or-later
// The decisions of the flusher, with a clock and an output that the test controls.
#include "process/flusher.hpp"

#include <cerrno>
#include <deque>
#include <new>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "capturing.hpp"
#include "support/scarce_memory.hpp"
#include "tags/description.hpp"

namespace pcp::trace::client {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kInterval = 100 * kMs;

class FakeOutput final : public Output {
 public:
  FakeOutput(Pending& pending, DeliveryCounters& counters)
      : pending_(pending), counters_(counters) {}

  // Does what the agent would do.
  void acknowledge() {
    for (; !taken_.empty(); taken_.pop_front()) counters_.acknowledged += taken_.front().records();
    talk();
  }
  void lose_from_sight() {
    for (; !taken_.empty(); taken_.pop_front()) counters_.uncertain += taken_.front().records();
    talk();
  }
  void put_back() {
    for (; !taken_.empty(); taken_.pop_front()) pending_.add_again(taken_.front());
    news_.has_put_back = true;
    talk();
  }
  void talk() {
    news_.has_changed = true;
    be_ready();
  }
  void come() {
    is_there = true;
    talk();
  }
  void end_attempt(int error) {
    news_.has_connected = error == 0;
    if (error != 0) news_.failure = error;
    talk();
  }

  std::function<void()> be_ready;  // has the flusher ask for the news
  bool is_there = true;
  bool knows_open = true;  // or cannot know about open transactions
  bool has_memory = true;
  bool was_recovered = false;
  std::uint64_t next_call = kNever;
  int calls = 0;  // of on_timer()
  int connects = 0;
  int hurries = 0;
  int hurries_allowed = 100;
  bool has_said_goodbye = false;
  std::uint64_t taken = 0;  // all calls so far

 private:
  void send_pending(std::uint64_t until) override {
    if (!has_memory) throw std::bad_alloc();
    while (is_there && pending_.popped() < until) {
      taken += pending_.front().records();
      first_taken_ = taken_.empty() ? pending_.popped() : first_taken_;
      taken_.push_back(pending_.front());
      pending_.pop();
    }
  }
  bool has_told_open() const override { return knows_open; }
  bool has_settled(std::uint64_t until) const override {
    return taken_.empty() || first_taken_ >= until;
  }
  void connect() override { ++connects; }
  bool hurry(std::uint64_t) override { return ++hurries <= hurries_allowed; }
  void say_goodbye() override { has_said_goodbye = true; }
  void recover() override { was_recovered = true; }
  std::uint64_t next_call_ns() const override { return next_call; }
  void on_timer() override { ++calls; }

  Pending& pending_;
  DeliveryCounters& counters_;
  std::deque<Pending::Entry> taken_;  // but not settled
  std::uint64_t first_taken_ = 0;     // number of the first of them
};

struct FlusherWithoutABell : testing::Test {
  std::uint64_t now = 1000 * kMs;
  bool has_main_left = false;
  bool is_last_thread = false;
  std::function<void()> when_the_clock_is_read = [] {};

  Doorbell doorbell;
  Recorders recorders{doorbell, 64};
  Deliveries deliveries;
  DeliveryCounters delivered;
  Outbox outbox{recorders, {}, delivered, [] { return wire::ClientCounters{}; }};
  Pending& pending = outbox.pending;
  SpanSender& spans = outbox.spans;
  FakeOutput output{pending, delivered};
  Flusher flusher{{recorders, doorbell, deliveries},
                  outbox,
                  output,
                  std::chrono::nanoseconds(kInterval),
                  {.now_ns =
                       [this] {
                         when_the_clock_is_read();
                         return now;
                       },
                   .pause = [](std::chrono::nanoseconds) {},
                   .has_main_left = [this] { return has_main_left; },
                   .is_last_thread = [this] { return is_last_thread; }}};
  Recorder& recorder = *recorders.reuse_or_make();
  const Tag* tag = intern_tag("flushed");

  FlusherWithoutABell() {
    output.be_ready = [this] { flusher.on_output_ready(); };
  }

  void record() { ASSERT_EQ(recorder.record(tag, 1, RecordKind::Observe), 0); }

  // Lets the time pass until the flusher wants to be called.
  void pass_time() {
    ASSERT_NE(flusher.next_call_ns(), kNever);
    now = flusher.next_call_ns();
    flusher.on_timer();
  }
  void fall_asleep() {
    flusher.on_bell(false);
    for (int rounds = 0; flusher.next_call_ns() != kNever && rounds < 100; ++rounds) pass_time();
    ASSERT_EQ(flusher.next_call_ns(), kNever);
  }
  // Does what the loop does. False if nobody has rung.
  bool hear() {
    if (!doorbell.is_rung()) return false;
    flusher.on_bell(doorbell.silence());
    return true;
  }
  std::uint64_t ask_for_delivery() {
    const std::uint64_t ticket = deliveries.request_delivery();
    doorbell.ring();
    EXPECT_TRUE(hear());
    return ticket;
  }
  std::uint64_t record_and_ask() {
    record();
    return ask_for_delivery();
  }
  bool has_delivered(std::uint64_t ticket) {
    return deliveries.await(ticket, 0s, Deliveries::Patience::Fixed, [](Instant) {
      return false;  // no time to wait
    });
  }
  bool has_failed(std::uint64_t ticket) {
    return deliveries.is_settled(ticket) && !has_delivered(ticket);
  }
};

struct FlusherTest : FlusherWithoutABell {
  FlusherTest() { doorbell.renew(); }
};

TEST_F(FlusherTest, SendsWhatComesAfterAPauseInAMillisecond) {
  fall_asleep();
  record();
  ASSERT_TRUE(hear());
  EXPECT_EQ(flusher.next_call_ns(), now + kMs);
  record();
  EXPECT_FALSE(hear());
  EXPECT_EQ(output.taken, 0u);
  pass_time();
  EXPECT_EQ(output.taken, 2u);
}

TEST_F(FlusherTest, SendsWhatFollowsByTheInterval) {
  flusher.on_bell(false);
  record();
  pass_time();
  record();
  EXPECT_EQ(flusher.next_call_ns(), now + kInterval);
  now += kInterval - 1;
  flusher.on_timer();  // too early
  EXPECT_EQ(output.taken, 1u);
  flusher.on_bell(false);  // a ring does not make the next flush earlier
  ++now;
  flusher.on_timer();
  EXPECT_EQ(output.taken, 2u);
}

TEST_F(FlusherTest, SleepsAfterTenIntervalsWithoutRecords) {
  flusher.on_bell(false);
  record();
  pass_time();
  for (int round = 0; round < 9; ++round) pass_time();
  record();  // just in time
  EXPECT_FALSE(hear());
  for (int round = 0; round < 10; ++round) pass_time();
  EXPECT_NE(flusher.next_call_ns(), kNever);
  pass_time();
  EXPECT_EQ(flusher.next_call_ns(), kNever);
}

TEST_F(FlusherTest, SendsWhatIsSaidOfATagThatNobodyCallsAnyMore) {
  tag = intern_tag("said late");
  record();
  fall_asleep();
  ASSERT_TRUE(describe(*intern_tag("never called"), "s", ""));
  ASSERT_TRUE(describe(*tag, "s", ""));
  doorbell.ring_if_asleep();
  ASSERT_TRUE(hear());
  pass_time();
  EXPECT_EQ(pending.popped(), 2u);
  EXPECT_EQ(output.taken, 1u);
}

// A record made after the last look, by a caller that does not yet know that it has to ring.
TEST_F(FlusherTest, LooksOnceMoreBeforeItSleeps) {
  flusher.on_bell(false);
  for (int round = 0; round < 9; ++round) pass_time();
  int reads = 0;
  when_the_clock_is_read = [&] {
    if (++reads == 3) record();  // for the timer, for the drain, for the last look
  };
  pass_time();
  EXPECT_EQ(flusher.next_call_ns(), now + kInterval);
  EXPECT_EQ(output.taken, 1u);
}

TEST_F(FlusherWithoutABell, LooksMoreAndMoreRarely) {
  flusher.on_bell(false);
  std::vector<std::uint64_t> pauses_ms;
  for (int round = 0; round < 15; ++round) {
    pauses_ms.push_back((flusher.next_call_ns() - now) / kMs);
    pass_time();
  }
  EXPECT_EQ(pauses_ms, (std::vector<std::uint64_t>{1, 100, 100, 100, 100, 100, 100, 100, 100, 100,
                                                   100, 200, 400, 500, 500}));
}

TEST_F(FlusherTest, CallsItsOutputWhenThatWantsToBeCalled) {
  output.next_call = now + 7;
  flusher.on_bell(false);
  EXPECT_EQ(flusher.next_call_ns(), now + 7);
  pass_time();
  EXPECT_EQ(output.calls, 1);
  output.next_call = kNever;
  output.talk();
  EXPECT_EQ(flusher.next_call_ns(), now - 7 + kMs);
}

TEST_F(FlusherTest, SettlesAFlushWhereNothingIsPending) {
  EXPECT_TRUE(has_delivered(ask_for_delivery()));
}

TEST_F(FlusherTest, LetsNobodyWaitForWhatIsRecordedLater) {
  output.is_there = false;
  const std::uint64_t ticket = record_and_ask();
  ASSERT_EQ(recorder.record(intern_tag("flushed later"), 1, RecordKind::Observe), 0);
  output.come();
  output.acknowledge();
  EXPECT_TRUE(has_delivered(ticket));
  pass_time();
  EXPECT_EQ(output.taken, 2u);
}

TEST_F(FlusherTest, FailsAFlushIfACallIsLostFromSight) {
  const std::uint64_t ticket = record_and_ask();
  output.lose_from_sight();
  EXPECT_TRUE(has_failed(ticket));
  const std::uint64_t later = record_and_ask();
  output.acknowledge();
  EXPECT_TRUE(has_delivered(later));
}

TEST_F(FlusherTest, WaitsForWhatWasPutBack) {
  const std::uint64_t ticket = record_and_ask();
  output.is_there = false;
  output.put_back();
  EXPECT_FALSE(deliveries.is_settled(ticket));
  output.come();  // without a flush interval in between
  EXPECT_EQ(output.taken, 2u);
  EXPECT_FALSE(deliveries.is_settled(ticket));
  output.acknowledge();
  EXPECT_TRUE(has_delivered(ticket));
}

TEST_F(FlusherTest, ServesThoseWhoAskDuringAFlushTogetherAfterIt) {
  const std::uint64_t first = record_and_ask();
  record_and_ask();
  const std::uint64_t last = ask_for_delivery();
  EXPECT_EQ(output.taken, 1u);
  output.acknowledge();
  EXPECT_EQ(deliveries.settled(), first);
  ASSERT_TRUE(hear());  // the flusher rings by itself
  EXPECT_EQ(output.taken, 2u);
  output.acknowledge();
  EXPECT_EQ(deliveries.settled(), last);
}

TEST_F(FlusherTest, TellsWhatBecameOfTheFirstAttempt) {
  output.end_attempt(-ECONNREFUSED);
  EXPECT_EQ(deliveries.connection_outcome(), -ECONNREFUSED);
}

TEST_F(FlusherTest, ConnectsOnlyIfThereIsSomethingToDeliver) {
  output.is_there = false;
  fall_asleep();
  EXPECT_EQ(output.connects, 0);
  record();
  hear();
  pass_time();
  EXPECT_EQ(output.connects, 1);
  output.come();
  EXPECT_EQ(output.connects, 2);  // calls on their way are not acknowledged yet
  output.acknowledge();
  EXPECT_EQ(output.connects, 2);
}

TEST_F(FlusherTest, ConnectsForSpansToo) {
  const int before = replace_state(PMTRACE_STATE_NONE);
  spans.on_welcome(AgentChange::Another, 0, wire::Control{1, {{7, 0, "tag=flushed limit=10/s"}}});
  run_on(recorder, tag);
  EXPECT_FALSE(recorders.has_settled_spans());
  output.talk();
  EXPECT_EQ(output.connects, 1);
  ASSERT_NE(spans.next(), nullptr);
  EXPECT_FALSE(recorders.has_settled_spans());
  output.talk();
  EXPECT_EQ(output.connects, 2);  // the EVENTS may have to be sent again
  spans.on_ack(1);
  output.talk();
  EXPECT_EQ(output.connects, 2);
  EXPECT_TRUE(recorders.has_settled_spans());
  recorders.captures().publish(nullptr);
  replace_state(before);
}

// The wait at the end of a process goes on as long as there is progress.
TEST_F(FlusherTest, TakesAConnectionAndSettledCallsForProgress) {
  const std::uint64_t ticket = record_and_ask();
  int pauses = 0;
  const auto wait = [&](auto what_happens) {
    pauses = 0;
    return deliveries.await(ticket, 0s, Deliveries::Patience::Progress, [&](Instant) {
      if (++pauses == 1) what_happens();
      return false;
    });
  };
  EXPECT_FALSE(wait([&] { output.talk(); }));
  EXPECT_EQ(pauses, Deliveries::kParts);
  output.is_there = false;
  EXPECT_FALSE(wait([&] { output.end_attempt(-ECONNREFUSED); }));
  EXPECT_EQ(pauses, Deliveries::kParts);
  EXPECT_FALSE(wait([&] { output.end_attempt(0); }));
  EXPECT_EQ(pauses, Deliveries::kParts + 1);
  EXPECT_FALSE(wait([&] {
    delivered.acknowledged += 1;
    output.talk();
  }));
  EXPECT_EQ(pauses, Deliveries::kParts + 1);
}

TEST_F(FlusherTest, TriesOnceMoreForAPatientWaiterAndThenGivesUp) {
  const Deliveries::Waiter waiter(deliveries, Deliveries::Patience::Progress);
  output.is_there = false;
  output.hurries_allowed = 1;
  record();
  const std::uint64_t ticket = ask_for_delivery();
  EXPECT_EQ(output.hurries, 1);
  EXPECT_EQ(output.connects, 1);
  EXPECT_FALSE(deliveries.is_settled(ticket));
  output.end_attempt(-ECONNREFUSED);
  EXPECT_TRUE(has_failed(ticket));
}

TEST_F(FlusherTest, DoesNotHurryForAWaiterWithAFixedTime) {
  const Deliveries::Waiter waiter(deliveries, Deliveries::Patience::Fixed);
  output.is_there = false;
  const std::uint64_t ticket = record_and_ask();
  output.end_attempt(-ECONNREFUSED);
  output.end_attempt(-ECONNREFUSED);
  EXPECT_EQ(output.hurries, 0);
  EXPECT_FALSE(deliveries.is_settled(ticket));
}

// A busy agent may acknowledge when the process has ended.
TEST_F(FlusherTest, SaysGoodbyeAtTheEndWhenAllIsSent) {
  record_and_ask();
  output.acknowledge();
  EXPECT_FALSE(output.has_said_goodbye);
  deliveries.say_end();
  const std::uint64_t ticket = record_and_ask();
  EXPECT_TRUE(output.has_said_goodbye);
  EXPECT_FALSE(deliveries.is_settled(ticket));
  output.acknowledge();
  EXPECT_TRUE(has_delivered(ticket));
}

// Other threads may go on until the process has ended.
TEST_F(FlusherTest, SaysGoodbyeThoughOtherThreadsGoOnAndConnectsNoMore) {
  deliveries.say_end();
  output.is_there = false;
  const std::uint64_t ticket = record_and_ask();
  record();
  flusher.on_bell(true);
  EXPECT_FALSE(output.has_said_goodbye);
  output.come();
  EXPECT_TRUE(output.has_said_goodbye);
  output.acknowledge();
  EXPECT_TRUE(has_delivered(ticket));
  const int connects = output.connects;
  output.talk();  // the agent has hung up
  EXPECT_EQ(output.connects, connects);
}

#ifdef TRACE_SCARCE_MEMORY
// As one does that has lost its processor: nobody else can take what it records.
TEST_F(FlusherTest, SaysNoGoodbyeWhileAThreadIsInTheMiddleOfACall) {
  while (!recorder.overflow().is_in_use()) record();
  bool has_ended = false;
  for (int i = 0; !has_ended && !HasFailure(); ++i) {  // until there is no room for another cell
    const Tag* another = intern_tag("another " + std::to_string(i));
    const DuringAllocation end(1, [&] {
      deliveries.say_end();
      ask_for_delivery();
      EXPECT_TRUE(recorder.overflow().was_busy());
      has_ended = true;
    });
    EXPECT_EQ(recorder.record(another, 1, RecordKind::Observe), 0);
  }
  EXPECT_FALSE(output.has_said_goodbye);
}
#endif

TEST_F(FlusherTest, ConnectsForATransactionThatIsOpen) {
  recorder.begin_traced(tag);
  flusher.on_bell(false);
  pass_time();
  EXPECT_GT(output.connects, 0);
}

TEST_F(FlusherTest, WaitsUntilTheAgentKnowsWhatVanishesAndIsSilentFromThereOn) {
  output.knows_open = false;
  recorder.begin_traced(tag);
  deliveries.say_end();
  const std::uint64_t ticket = ask_for_delivery();
  EXPECT_FALSE(deliveries.is_settled(ticket));
  output.knows_open = true;
  output.talk();
  EXPECT_TRUE(has_delivered(ticket));
  EXPECT_TRUE(output.has_said_goodbye);
  const int connects = output.connects;
  output.talk();  // for instance because the connection is closed
  EXPECT_EQ(output.connects, connects);
}

TEST_F(FlusherTest, SaysNoGoodbyeForAFlushThatBeganBeforeTheEnd) {
  record_and_ask();
  record();
  deliveries.say_end();  // before the last delivery is requested
  output.acknowledge();
  EXPECT_FALSE(output.has_said_goodbye);
  ask_for_delivery();
  EXPECT_TRUE(output.has_said_goodbye);
}

TEST_F(FlusherTest, SaysNoGoodbyeToAnAgentThatLostSomething) {
  output.is_there = false;
  record();
  deliveries.say_end();
  ask_for_delivery();
  delivered.uncertain += 1;
  output.come();
  EXPECT_FALSE(output.has_said_goodbye);
}

TEST_F(FlusherTest, LeavesWhenItIsTheLastThread) {
  has_main_left = true;
  flusher.on_bell(true);
  EXPECT_FALSE(flusher.has_left());
  EXPECT_EQ(flusher.next_call_ns(), now + kMs);
  pass_time();
  for (int look = 0; look < 5; ++look) pass_time();
  EXPECT_FALSE(flusher.has_left());
  is_last_thread = true;
  for (int look = 0; look < 3 && !flusher.has_left(); ++look) pass_time();
  EXPECT_TRUE(flusher.has_left());
  record();  // brings it back
  ASSERT_TRUE(hear());
  EXPECT_FALSE(flusher.has_left());
}

TEST_F(FlusherTest, DoesNotLookForOtherThreadsWhileMainIsThere) {
  is_last_thread = true;
  fall_asleep();
  EXPECT_FALSE(flusher.has_left());
}

TEST_F(FlusherTest, StaysWhileSomebodyWaits) {
  has_main_left = is_last_thread = true;
  {
    const Deliveries::Waiter waiter(deliveries, Deliveries::Patience::Fixed);
    flusher.on_bell(true);
    EXPECT_FALSE(flusher.has_left());
  }
  for (int look = 0; look < 3 && !flusher.has_left(); ++look) pass_time();
  EXPECT_TRUE(flusher.has_left());
}

TEST_F(FlusherTest, StaysIfThereIsSomethingToDeliverAfterAll) {
  has_main_left = is_last_thread = true;
  record();
  flusher.on_bell(false);
  EXPECT_FALSE(flusher.has_left());
  EXPECT_EQ(flusher.next_call_ns(), now + kMs);
  pass_time();
  EXPECT_EQ(output.taken, 1u);
}

TEST_F(FlusherTest, GoesOnWhenThereIsMemoryAgain) {
  record();
  output.has_memory = false;
  flusher.on_bell(false);
  EXPECT_THROW(pass_time(), std::bad_alloc);
  flusher.recover();
  EXPECT_TRUE(output.was_recovered);
  EXPECT_EQ(flusher.next_call_ns(), now + kInterval);
  output.has_memory = true;
  pass_time();
  EXPECT_EQ(output.taken, 1u);
}

}  // namespace
}  // namespace pcp::trace::client
