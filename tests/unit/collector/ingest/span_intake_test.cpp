// SPDX-License-Identifier: LGPL-2.1-or-later
// Programs that are told what to capture, and send spans.
#include <malloc.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "unit/collector/ingest/collector_fixture.hpp"
#include "wire/events.hpp"

namespace pcp::trace::agent {
namespace {

using namespace std::chrono_literals;
using wire::PduType;

constexpr Audience kEverybody{};

wire::Span span_at(std::uint32_t bits, std::uint64_t id) {
  wire::Span span;
  span.tag_id = 1;
  span.trace = {1, 2};
  span.span = id;
  span.capture_bits = bits;
  return span;
}

std::string events_pdu(std::uint64_t sequence, std::uint64_t control,
                       const std::vector<wire::Span>& spans,
                       const std::vector<wire::CaptureCount>& counts = {}) {
  std::string body;
  for (const wire::Span& span : spans) wire::append_span(body, span);
  std::string out;
  wire::append_events(out, 1, sequence, control, counts, body);
  return out;
}

std::optional<wire::Control> next_control(TestPeer& peer) {
  const auto pdu = peer.next();
  if (!pdu || pdu->type != PduType::Control) return {};
  return wire::decode_control(pdu->payload);
}

// Reads until the program is told to capture exactly this; `before` counts earlier CONTROLs.
bool eventually_told(TestPeer& peer, const std::string& filter, int* before = nullptr) {
  while (const auto pdu = peer.next()) {
    if (pdu->type != PduType::Control) continue;
    const auto control = wire::decode_control(pdu->payload);
    if (!control) return false;
    if (control->captures.size() == 1 && control->captures[0].filter == filter) return true;
    if (before != nullptr) ++*before;
  }
  return false;
}

std::optional<std::uint64_t> next_events_ack(TestPeer& peer) {
  const auto pdu = peer.next();
  if (!pdu || pdu->type != PduType::EventsAck) return {};
  return wire::decode_events_ack(pdu->payload);
}

std::vector<std::uint64_t> ids(const SpanReading& reading) {
  std::vector<std::uint64_t> all;
  for (const auto& entry : reading.entries) all.push_back(entry.span->span);
  return all;
}

using Ids = std::vector<std::uint64_t>;

class SpansOfPrograms : public CollectorFixture {
 protected:
  std::unique_ptr<MonitoredSpans::Monitor> capture(const std::string& filter,
                                                   Audience audience = kEverybody) {
    return collector_->spans().capture(filter, audience);
  }

  // A program that has defined its tag, and knows the captures of that time.
  TestPeer program(std::uint8_t session = 1) {
    TestPeer peer = unix_socket();
    const auto welcome = peer.hello(session);
    EXPECT_TRUE(welcome);
    control_ = welcome ? welcome->control : std::nullopt;
    EXPECT_TRUE(peer.send(tags_pdu({{1, "request"}})));
    return peer;
  }

  std::optional<wire::Control> control_;  // of the last program
};

// A program that knows one capture, of everybody.
class SpansThatAreAskedFor : public SpansOfPrograms {
 protected:
  void SetUp() override {
    start();
    monitor_ = capture("tag=a");
    peer_ = program();
    ASSERT_TRUE(control_);
    capture_ = control_->captures.at(0).id;
  }

  void send(std::uint64_t sequence, const std::vector<wire::Span>& spans,
            const std::vector<wire::CaptureCount>& counts = {}) {
    ASSERT_TRUE(peer_.send(events_pdu(sequence, control_->number, spans, counts)));
  }
  bool deliver(std::uint64_t sequence, const std::vector<wire::Span>& spans,
               const std::vector<wire::CaptureCount>& counts = {}) {
    send(sequence, spans, counts);
    return next_events_ack(peer_) == sequence;
  }
  void expect_refused() {
    EXPECT_TRUE(peer_.next_bye());
    EXPECT_EQ(collector_->spans().totals().captured, 0u);
    EXPECT_EQ(collector_->spans().totals().missed, MissedCounts{});
    EXPECT_EQ(monitor_->read(1).missed(0), 0u);
    EXPECT_EQ(monitor_->waiting(), 0u);
  }

  std::unique_ptr<MonitoredSpans::Monitor> monitor_;
  TestPeer peer_ = TestPeer::unconnected();
  std::uint64_t capture_ = 0;
};

TEST_F(SpansThatAreAskedFor, AreTakenOnceAndAcknowledged) {
  EXPECT_TRUE(deliver(1, {span_at(1, 5), span_at(1, 6)}));
  EXPECT_TRUE(deliver(1, {span_at(1, 5), span_at(1, 6)}));
  EXPECT_TRUE(deliver(2, {span_at(1, 7)}));
  EXPECT_EQ(ids(monitor_->read(100)), (Ids{5, 6, 7}));
}

TEST_F(SpansThatAreAskedFor, AreTakenOnceAcrossConnections) {
  const std::string sent = events_pdu(1, control_->number, {span_at(1, 5)});
  ASSERT_TRUE(peer_.send(sent));
  EXPECT_EQ(next_events_ack(peer_), 1u);
  peer_.close();
  TestPeer again = unix_socket();
  const auto welcome = again.hello(1);
  ASSERT_TRUE(welcome);
  EXPECT_EQ(welcome->last_events, 1u);
  EXPECT_TRUE(welcome->control);
  ASSERT_TRUE(again.send(sent));
  EXPECT_EQ(next_events_ack(again), 1u);
  EXPECT_EQ(ids(monitor_->read(100)), (Ids{5}));
}

TEST_F(SpansThatAreAskedFor, HaveTextsOfTheirOwn) {
  wire::Span span = span_at(1, 5);
  const std::array<wire::SpanAttribute, 2> attributes{
      {{"route", "/cart\n", {}}, {"rows", {}, 12.0}}};
  const std::array<wire::SpanLink, 1> links{{{{1, 2}, 3}}};
  span.attributes = attributes;
  span.links = links;
  span.aborted = true;
  span.reason = "tired\n";
  EXPECT_TRUE(deliver(1, {span}));
  peer_.close();
  const SpanReading reading = monitor_->read(100);
  ASSERT_EQ(reading.entries.size(), 1u);
  const StoredSpan& stored = *reading.entries[0].span;
  EXPECT_EQ(*stored.tag, "request");
  EXPECT_EQ(stored.attributes, "route=/cart\\x0a rows=12");
  EXPECT_EQ(stored.links, "00000000000000010000000000000002-0000000000000003");
  EXPECT_EQ(stored.reason, "tired\\x0a");
  EXPECT_EQ(stored.source->service, "service");
  EXPECT_EQ(stored.source->process, "program");
  EXPECT_EQ(stored.source->host, "");
  EXPECT_EQ(stored.source->pid, static_cast<std::uint32_t>(::getpid()));
}

TEST_F(SpansThatAreAskedFor, MayNotBeOfACaptureThatTheyWereNotToldOf) {
  ASSERT_TRUE(peer_.send(events_pdu(1, control_->number + 1, {span_at(1, 5)})));
  expect_refused();
}

TEST_F(SpansThatAreAskedFor, MayNotHaveATagThatIsNotDefined) {
  wire::Span span = span_at(1, 6);
  span.tag_id = 2;
  send(1, {span_at(1, 5), span});
  expect_refused();
}

TEST_F(SpansThatAreAskedFor, AreCountedAsTheySay) {
  EXPECT_TRUE(deliver(1, {}, {{capture_, 10, 1, 2, 0, 0}}));
  EXPECT_TRUE(deliver(2, {}, {{capture_, 15, 1, 3, 1, 0}}));
  EXPECT_TRUE(deliver(3, {}, {{capture_ + 1, 15, 1, 3, 1, 9}}));
  const SpanTotals totals = collector_->spans().totals();
  EXPECT_EQ(totals.captured, 15u);
  EXPECT_EQ(totals.missed, (MissedCounts{1, 3, 1, 0}));
  EXPECT_EQ(monitor_->read(1).missed(0), 5u);
}

TEST_F(SpansThatAreAskedFor, AreNotBelievedToBeMoreThanThereCanBe) {
  constexpr std::uint64_t kMost = wire::kMaxCaptureCount;
  send(1, {span_at(1, 5)}, {{capture_, kMost, 0, kMost, 0, 0}});
  expect_refused();
}

TEST_F(SpansThatAreAskedFor, AreNotBelievedToBeThatByAndBy) {
  const Instant begin = steady_now();
  bool is_believed = true;
  for (std::uint64_t sequence = 1; is_believed && sequence < 1000; ++sequence) {
    const std::uint64_t said = sequence % 2 == 0 ? 0 : 100'000'000;
    is_believed = deliver(sequence, {}, {{capture_, said, 0, 0, 0, said}});
  }
  EXPECT_FALSE(is_believed);
  const std::uint64_t most =
      static_cast<std::uint64_t>((steady_now() - begin) / 10ns) + 1'000'000'000;
  const SpanTotals totals = collector_->spans().totals();
  EXPECT_GT(totals.captured, 900'000'000u);
  EXPECT_LE(totals.captured, most);
}

TEST_F(SpansThatAreAskedFor, AreCountedFromTheBeginningOnceTheirCountsFall) {
  EXPECT_TRUE(deliver(1, {}, {{capture_, 10, 5, 0, 0, 0}}));
  EXPECT_TRUE(deliver(2, {}, {{capture_, 20, 3, 0, 0, 0}}));
  const SpanTotals totals = collector_->spans().totals();
  EXPECT_EQ(totals.captured, 30u);
  EXPECT_EQ(totals.missed, (MissedCounts{8, 0, 0, 0}));
}

std::size_t resident_bytes() {
  std::size_t all = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST_F(SpansThatAreAskedFor, GiveTheirMemoryBackOnceNobodyWantsThem) {
  if (mallinfo2().uordblks == 0) GTEST_SKIP() << "a sanitizer has a heap of its own";
  wire::Span span = span_at(1, 5);
  const std::string text(2000, 'x');
  std::vector<wire::SpanAttribute> attributes(5, {"key", text, {}});
  span.attributes = attributes;
  const std::size_t before = resident_bytes();
  for (std::uint64_t sequence = 1; collector_->spans().totals().overwritten == 0; ++sequence)
    ASSERT_TRUE(deliver(sequence, {span, span, span}));
  EXPECT_GT(resident_bytes(), before + (40u << 20));
  EXPECT_LT(resident_bytes(), before + (72u << 20));
  monitor_.reset();
  EXPECT_TRUE(eventually([&] { return resident_bytes() < before + (8u << 20); }))
      << resident_bytes() - before;
}

TEST_F(SpansOfPrograms, AreWantedFromTheWelcomeOn) {
  start();
  const auto monitor = capture("tag=a");
  program();
  ASSERT_TRUE(control_);
  ASSERT_EQ(control_->captures.size(), 1u);
  EXPECT_EQ(control_->captures[0].filter, "tag=a");
  EXPECT_EQ(control_->captures[0].bit, 0u);
  EXPECT_EQ(control_->most_a_second, 20'000u);
}

TEST_F(SpansOfPrograms, AreNotSpokenOfUntilSomebodyWantsThem) {
  start();
  TestPeer peer = program();
  EXPECT_FALSE(control_);
  ASSERT_TRUE(peer.deliver(1, entry(1, TraceType::Point, {1})));
}

TEST_F(SpansOfPrograms, AreAskedForWhileTheyRun) {
  start();
  TestPeer peer = program();
  auto monitor = capture("tag=a");
  const auto first = next_control(peer);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->captures.size(), 1u);
  monitor.reset();
  const auto second = next_control(peer);
  ASSERT_TRUE(second);
  EXPECT_GT(second->number, first->number);
  EXPECT_TRUE(second->captures.empty());
}

TEST_F(SpansOfPrograms, OfOtherUsersAreNotAskedForNorBelieved) {
  start();
  const auto others = capture("tag=a", {::getuid() + 1});
  const auto own = capture("tag=b", {::getuid()});
  TestPeer peer = program();
  ASSERT_TRUE(control_);
  ASSERT_EQ(control_->captures.size(), 1u);
  EXPECT_EQ(control_->captures[0].filter, "tag=b");
  ASSERT_TRUE(peer.send(events_pdu(1, control_->number, {span_at(0b11, 5)})));
  EXPECT_EQ(next_events_ack(peer), 1u);
  EXPECT_EQ(others->waiting(), 0u);
  EXPECT_EQ(own->waiting(), 1u);
}

TEST_F(SpansOfPrograms, OverTcpAreThoseWhoSeeEverybodys) {
  start();
  const auto own = capture("tag=b", {::getuid()});
  const auto everybodys = capture("tag=a");
  TestPeer peer = tcp();
  const auto welcome = peer.hello(1);
  ASSERT_TRUE(welcome && welcome->control);
  ASSERT_EQ(welcome->control->captures.size(), 1u);
  EXPECT_EQ(welcome->control->captures[0].filter, "tag=a");
}

// Counts that fall and rise again must not add up without limit.
class SharesOfPrograms : public SpansOfPrograms {
 protected:
  SharesOfPrograms() {
    // So often the agent looks after its sessions.
    start_with([](auto& options) { options.unfinished_pdu = 40ms; });
  }

  // A program that has sent a span.
  TestPeer sender(TestPeer peer, std::uint8_t session) {
    const auto welcome = peer.hello(session);
    EXPECT_TRUE(welcome && welcome->control);
    EXPECT_TRUE(peer.send(tags_pdu({{1, "request"}})));
    EXPECT_TRUE(peer.send(events_pdu(1, welcome->control->number, {span_at(1, 5)})));
    return peer;
  }

  // Reads until the program is told of this share. False if that does not come.
  static bool eventually_has(TestPeer& peer, std::uint32_t share) {
    while (const auto pdu = peer.next()) {
      if (pdu->type == PduType::EventsAck) continue;
      const auto control = wire::decode_control(pdu->payload);
      if (!control || control->captures.size() != 1) return false;
      if (control->most_a_second == share) return true;
    }
    return false;
  }
};

TEST_F(SharesOfPrograms, AreSmallerTheMoreSendSome) {
  const auto monitor = capture("tag=a");
  std::vector<TestPeer> peers;
  for (std::uint8_t session = 1; session <= 3; ++session)
    peers.push_back(sender(unix_socket(), session));
  EXPECT_TRUE(eventually_has(peers[0], 5'000));
}

TEST_F(SpansOfPrograms, HaveTheLimitOfTheOptions) {
  start_with([](auto& options) { options.max_spans_a_second = 100'000; });
  const auto monitor = capture("tag=a");
  TestPeer peer = unix_socket();
  const auto welcome = peer.hello(1);
  ASSERT_TRUE(welcome && welcome->control);
  EXPECT_EQ(welcome->control->most_a_second, 100'000u);
}

// Programs that come by TCP are another user.
TEST_F(SharesOfPrograms, AreNoSmallerForTheManyOfAnotherUser) {
  const auto monitor = capture("tag=a");
  TestPeer only = sender(unix_socket(), 1);
  std::vector<TestPeer> many;
  for (std::uint8_t session = 2; session <= 9; ++session) many.push_back(sender(tcp(), session));
  EXPECT_TRUE(eventually_has(many[0], 1'250));
  EXPECT_TRUE(eventually_has(only, 10'000));
}

// However often monitors change their filters.
TEST_F(SpansOfPrograms, AreAskedForTenTimesASecondAtMost) {
  start();
  TestPeer peer = program();
  const Instant begin = steady_now();
  for (int i = 0; i < 2000; ++i) capture("tag=" + std::to_string(i));
  const auto last = capture("tag=last");
  int told = 0;
  ASSERT_TRUE(eventually_told(peer, "tag=last", &told));
  EXPECT_LE(told, 1 + (steady_now() - begin) / 100ms);
}

// They are asked before the agent looks after its sessions, which its computing time would show.
TEST_F(SpansOfPrograms, AreAskedForSoon) {
  start();
  TestPeer peer = program();
  int filters = 0;
  const auto told_before_the_agent_looks = [&] {
    const std::uint64_t before = counters().busy_ns;
    const std::string filter = "tag=" + std::to_string(++filters);
    const auto monitor = capture(filter);
    return eventually_told(peer, filter) && counters().busy_ns == before;
  };
  for (int times = 0; times < 20; ++times) ASSERT_TRUE(eventually(told_before_the_agent_looks));
}

// Only unread answers wait for the program; after them it is told the newest captures.
TEST_F(SpansOfPrograms, AreAskedForOnceTheyHaveReadWhatWasSaidBefore) {
  start();
  TestPeer peer = program();
  std::string flood;
  std::uint64_t last = 0;
  while (flood.size() < 8u << 20) flood += batch_pdu(++last, entry(1, TraceType::Point, {1}));
  peer.send_until_full(flood);
  TestPeer next = program(2);  // its turn comes after that of the other one
  auto monitor = capture("tag=a");
  ASSERT_TRUE(eventually_told(next, "tag=a"));
  monitor = capture("tag=b");
  ASSERT_TRUE(eventually_told(next, "tag=b"));
  EXPECT_TRUE(eventually_told(peer, "tag=b"));
}

}  // namespace
}  // namespace pcp::trace::agent
