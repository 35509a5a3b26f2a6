// SPDX-License-Identifier: LGPL-2.1-or-later
// Processes that die and leave a black box.
#include "collector/ingest/black_boxes.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "support/box_memory.hpp"
#include "unit/collector/ingest/agent_side.hpp"
#include "unit/collector/ingest/collector_fixture.hpp"

namespace pcp::trace::agent {
namespace {

using namespace std::chrono_literals;
using namespace wire::box;
using Ids = std::vector<std::uint64_t>;

constexpr std::uint64_t kTag = 0x5000;
constexpr std::uint64_t kTrace = 2;

// A process that lives until it is killed.
class Child {
 public:
  template <typename Act>
  explicit Child(Act act) : pid_(::fork()) {
    if (pid_ != 0) return;
    act();
    for (;;) ::pause();
  }
  Child() : Child([] {}) {}
  ~Child() {
    kill();
    ::waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  void kill() {
    ::kill(pid_, SIGKILL);
    siginfo_t ended{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT);
  }

 private:
  const pid_t pid_;
};

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

Node node(std::uint64_t own, std::uint64_t trace, CaptureBits bits) {
  Node node{};
  node.tag = kTag;
  node.trace_low = trace;
  node.own = own;
  node.packed = std::uint64_t{bits} << kCaptureBitsAt;
  node.begin_ns = 1'000;
  node.epoch = 1;
  node.is_live = 1;
  return node;
}

Record record(std::uint64_t trace, CaptureBits undecided) {
  return {.epoch = 1, .undecided = undecided, .trace_low = trace};
}

std::string fields(std::uint64_t own, wire::SpanKind kind = {}, double value = 0) {
  std::string fields;
  wire::append_span_fields(fields, {.kind = kind, .begin_ns = 1'000, .span = own, .value = value});
  return fields;
}

using Monitor = std::unique_ptr<SharedSpans::Subscription>;

Ids ids(const Monitor& monitor) {
  Ids all;
  for (const auto& entry : monitor->read(1'000).entries) all.push_back(entry.span->span);
  std::ranges::sort(all);
  return all;
}

class BlackBoxesOfPrograms : public AgentSide {
 protected:
  Monitor capture(const std::string& filter) { return spans().capture(filter, {}); }

  // A program that knows the captures of this time, and has sent its box. Nobody can know whether
  // one without a pid lives.
  PduStream& program(pid_t pid = 0, std::uint8_t session = 1, uid_t uid = ::getuid()) {
    PduStream& peer = unix_socket(pid, uid);
    const auto welcome = peer.hello(session);
    EXPECT_TRUE(welcome);
    control_ = welcome && welcome->control ? welcome->control->number : 0;
    box_.add_set(1, control_);
    box_.add_tag(0, kTag, "request");
    EXPECT_TRUE(peer.send_with({}, {box_.descriptor()}));
    return peer;
  }
  // It was open for so long before its connection is lost.
  static Slot slot(std::uint64_t own, std::uint64_t trace, CaptureBits bits, Duration open = {},
                   std::uint32_t reasons = 0) {
    const Duration begun = now().time_since_epoch() - open;
    Slot slot{};
    slot.head = std::uint64_t{1} << 32 | std::uint64_t{reasons} << kReasonsAt;
    slot.begun = static_cast<std::uint64_t>(begun.count()) * 2 + 1;
    slot.reason_for = bits;
    slot.epoch = 1;
    slot.tag = kTag;
    slot.trace_low = trace;
    slot.packed = std::uint64_t{bits} << kCaptureBitsAt;
    slot.own = own;
    return slot;
  }
  // The last program dies.
  void die(PduStream& peer) {
    peer.close();
    pass(1h);
  }
  std::string trouble() const { return log_line_with("black box"); }

  BoxMemory box_{16u << 20};
  std::uint64_t control_ = 0;
};

TEST_F(BlackBoxesOfPrograms, AreAskedForOnUnixSockets) {
  const auto takes = [](PduStream& peer) {
    return peer.hello(1).value().features.test(wire::number_of(wire::Feature::BlackBox));
  };
  EXPECT_TRUE(takes(unix_socket()));
  EXPECT_FALSE(takes(tcp()));
}

TEST_F(BlackBoxesOfPrograms, AreReadWhenTheProcessHasDied) {
  const Monitor monitor = capture("tag=a");
  Child child;
  box_.put_node(0, node(5, kTrace, 1));
  program(child.pid()).close();
  pass(1s);
  EXPECT_EQ(ids(monitor), Ids{});
  child.kill();
  pass({});
  const SpanReading reading = monitor->read(10);
  ASSERT_EQ(reading.entries.size(), 1u);
  EXPECT_EQ(reading.entries[0].span->span, 5u);
  EXPECT_EQ(*reading.entries[0].span->tag, "request");
  EXPECT_EQ(reading.entries[0].span->source->pid, static_cast<std::uint32_t>(child.pid()));
  EXPECT_EQ(counters().boxes_read, 1u);
  EXPECT_EQ(counters().boxes_refused, 0u);
  EXPECT_EQ(spans().totals().captured, 1u);
  pass(1h);
  EXPECT_EQ(monitor->waiting(), 1u);  // once
}

TEST_F(BlackBoxesOfPrograms, AreReadWhenTheSessionIsForgotten) {
  const Monitor monitor = capture("tag=a");
  box_.put_node(0, node(5, kTrace, 1));
  program().close();
  pass(59min);
  EXPECT_EQ(ids(monitor), Ids{});
  pass(1min);
  EXPECT_EQ(ids(monitor), Ids{5});
}

TEST_F(BlackBoxesOfPrograms, OfOnesThatLiveAreDroppedWithTheirSessions) {
  const Monitor monitor = capture("tag=a");
  box_.put_node(0, node(5, kTrace, 1));
  die(program(::getpid()));
  EXPECT_EQ(ids(monitor), Ids{});
}

TEST_F(BlackBoxesOfPrograms, OfDeadOnesAreReadIfTheyDiedBefore) {
  const Monitor monitor = capture("tag=a");
  Child child;
  child.kill();
  ASSERT_EQ(::waitpid(child.pid(), nullptr, 0), child.pid());
  box_.put_node(0, node(5, kTrace, 1));
  program(child.pid()).close();
  pass({});
  EXPECT_EQ(ids(monitor), Ids{5});
}

TEST_F(BlackBoxesOfPrograms, AreDroppedAfterBye) {
  const Monitor monitor = capture("tag=a");
  box_.put_node(0, node(5, kTrace, 1));
  EXPECT_TRUE(program().leave());
  pass(1h);
  EXPECT_EQ(ids(monitor), Ids{});
  EXPECT_EQ(counters().boxes_read, 0u);
}

TEST_F(BlackBoxesOfPrograms, AreKeptByASessionThatResumes) {
  const Monitor monitor = capture("tag=a");
  Child child;
  box_.put_node(0, node(5, kTrace, 1));
  program(child.pid()).close();
  PduStream& again = unix_socket(child.pid());
  ASSERT_TRUE(again.hello(1));
  child.kill();
  pass(2h);
  EXPECT_EQ(ids(monitor), Ids{});
  again.close();
  pass({});
  EXPECT_EQ(ids(monitor), Ids{5});
}

TEST_F(BlackBoxesOfPrograms, AreReplacedByNewOnes) {
  Child child;
  const std::size_t before = open_descriptors();
  const Monitor monitor = capture("tag=a");
  box_.put_node(0, node(5, kTrace, 1));
  PduStream& peer = program(child.pid());
  {
    BoxMemory other;
    other.add_set(1, control_);
    other.put_node(0, node(6, kTrace, 1));
    EXPECT_TRUE(peer.send_with({}, {other.descriptor()}));
  }
  EXPECT_EQ(open_descriptors(), before + BlackBoxes::kDescriptors);
  child.kill();
  die(peer);
  EXPECT_EQ(ids(monitor), Ids{6});
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(BlackBoxesOfPrograms, AreRefusedAndCountedIfTheyAreNone) {
  const std::size_t before = open_descriptors();
  const BoxMemory unsealed(4096, 0);
  EXPECT_TRUE(client().send_with({}, {unsealed.descriptor()}));
  EXPECT_EQ(counters().boxes_refused, 1u);
  EXPECT_NE(trouble().find("its black box is refused: it is not a memory that is sealed"),
            std::string::npos);
  EXPECT_EQ(open_descriptors(), before + 1);  // of the test
}

TEST_F(BlackBoxesOfPrograms, AreRefusedBeforeHello) {
  EXPECT_TRUE(unix_socket().send_with({}, {box_.descriptor()}));
  EXPECT_EQ(counters().boxes_refused, 1u);
  EXPECT_NE(trouble().find("it came before HELLO"), std::string::npos);
}

TEST_F(BlackBoxesOfPrograms, AreLimitedByUserAndInAll) {
  const auto refused = [&] { return counters().boxes_refused.load(); };
  limit_boxes(10, 2);
  PduStream& first = program(::getpid(), 1);
  program(::getpid(), 2);
  program(::getpid(), 3);
  EXPECT_EQ(refused(), 1u);
  EXPECT_NE(trouble().find("there are too many"), std::string::npos);
  EXPECT_TRUE(first.send_with({}, {box_.descriptor()}));  // instead of its own
  EXPECT_EQ(refused(), 1u);
  EXPECT_TRUE(first.leave());
  program(::getpid(), 4);
  EXPECT_EQ(refused(), 1u);
  limit_boxes(2, 10);
  program(::getpid(), 5);
  EXPECT_EQ(refused(), 2u);
}

TEST_F(BlackBoxesOfPrograms, AreReadByTurnsOfUsers) {
  const Monitor monitor = capture("tag=a");
  Child child;
  for (std::uint8_t number = 1; number <= 3; ++number) {
    box_ = BoxMemory();
    box_.put_node(0, node(number, kTrace, 1));
    program(child.pid(), number, number < 3 ? 1'000 : 2'000).close();
  }
  child.kill();
  pass({});
  Ids in_order;
  const SpanReading reading = monitor->read(3);
  for (const auto& entry : reading.entries) in_order.push_back(entry.span->span);
  EXPECT_EQ(in_order, (Ids{1, 3, 2}));
}

TEST_F(BlackBoxesOfPrograms, AreNotReadIfNothingWasAskedFor) {
  PduStream& peer = program();
  const Monitor monitor = capture("tag=a");
  box_.add_set(1, 2);  // it was not told
  box_.put_node(0, node(5, kTrace, 1));
  die(peer);
  EXPECT_EQ(ids(monitor), Ids{});
  EXPECT_EQ(counters().boxes_read, 0u);
}

TEST_F(BlackBoxesOfPrograms, MayNameOnlyCapturesThatTheProcessKnows) {
  const Monitor known = capture("tag=a");
  PduStream& peer = program();
  const Monitor unknown = capture("tag=b");
  box_.put_node(0, node(5, kTrace, 0b11));
  Node later = node(6, kTrace, 0b11);
  later.epoch = 2;
  box_.add_set(2, control_ + 1);
  box_.put_node(1, later);
  Node never = node(7, kTrace, 0b11);
  never.epoch = 3;
  box_.put_node(2, never);
  die(peer);
  EXPECT_EQ(ids(known), Ids{5});
  EXPECT_EQ(ids(unknown), Ids{});
}

TEST_F(BlackBoxesOfPrograms, ThatAreTornAreReadAndLogged) {
  const Monitor monitor = capture("tag=a");
  box_.add_record(record(kTrace, 1), fields(5));
  box_.add_raw({.bytes = 9}, 48, {});
  box_.put_node(0, node(6, kTrace, 1));
  die(program());
  EXPECT_EQ(ids(monitor), (Ids{5, 6}));
  EXPECT_NE(trouble().find("has wrong numbers"), std::string::npos);
}

TEST_F(BlackBoxesOfPrograms, GiveEachSpanOnce) {
  const Monitor first = capture("tag=a");
  const Monitor second = capture("tag=b");
  box_.add_record(record(kTrace, 0b01), fields(5));
  box_.put_node(0, node(5, kTrace, 0b11));  // killed while the flusher took it
  box_.put_slot(0, slot(5, kTrace, 0b11));
  box_.put_node(1, node(6, kTrace, 0b01));
  box_.put_slot(1, slot(6, kTrace, 0b11));  // killed at its end
  box_.put_node(2, node(6, kTrace + 1, 0b01));
  die(program());
  EXPECT_EQ(ids(first), (Ids{5, 6, 6}));
  EXPECT_EQ(ids(second), (Ids{5}));
  EXPECT_EQ(spans().totals().captured, 4u);
}

TEST_F(BlackBoxesOfPrograms, GiveEachEventOnce) {
  using enum wire::SpanKind;
  const Monitor monitor = capture("tag=a kind=observe,counter");
  for (const double value : {1.0, 2.0})
    box_.add_record(record(kTrace, 1), fields(5, Observe, value));
  box_.add_record(record(kTrace, 1), fields(5, Counter, 1));
  box_.add_record(record(kTrace, 1), fields(5));  // the span that they are in
  Node event = node(5, kTrace, 1);
  event.kind = static_cast<std::uint8_t>(Observe);
  event.value = 1;
  box_.put_node(0, event);
  die(program());
  EXPECT_EQ(ids(monitor), (Ids{5, 5, 5, 5}));
}

TEST_F(BlackBoxesOfPrograms, GiveWhatWasWantedAndNotTaken) {
  const Monitor monitor = capture("tag=* failed");
  const auto add = [&](std::uint64_t own, auto change) {
    Record each = record(own, 0);
    change(each);
    box_.add_record(each, fields(own));
  };
  add(1, [](Record& each) { each.to_send = 1; });
  add(2, [](Record& each) { each.in_flight = each.sequence = 1; });  // taken
  add(3, [](Record& each) { each.in_flight = 1, each.sequence = 2; });
  add(4, [](Record& each) { each.undecided = 1; });
  PduStream& peer = program();
  EXPECT_TRUE(peer.send(wire::pdu_of(wire::append_events, 1, control_, {}, {}, "")));
  die(peer);
  EXPECT_EQ(ids(monitor), (Ids{1, 3}));
  EXPECT_EQ(spans().totals().captured, 2u);
}

TEST_F(BlackBoxesOfPrograms, SayWhatWasOpen) {
  const Monitor monitor = capture("tag=* died");
  const Monitor all = capture("tag=a");
  const std::string held = [] {
    std::string body;
    wire::append_span(body,
                      {.trace = {0, kTrace}, .span = 7, .flags = wire::kIsHeld, .capture_bits = 1});
    return body;
  }();
  PduStream& other = program(::getpid(), 2);
  EXPECT_TRUE(other.send(tags_pdu({{0, "before"}}) +
                         wire::pdu_of(wire::append_events, 1, control_, {}, {}, held)));
  box_.put_slot(0, slot(5, kTrace, 0b11));
  box_.put_node(0, node(6, kTrace, 1));
  box_.put_node(1, node(8, kTrace + 1, 1));  // of another trace
  die(program());
  EXPECT_EQ(ids(monitor), (Ids{5, 6, 7}));
  EXPECT_EQ(ids(all), Ids{5});
  for (const auto& entry : monitor->read(10).entries)
    EXPECT_EQ(entry.span->flags, entry.span->span == 5 ? wire::kWasOpen : 0u);
}

TEST_F(BlackBoxesOfPrograms, AloneSayThatATransactionWasOpen) {
  const Monitor monitor = capture("tag=a");
  std::string body;
  wire::append_span(
      body, {.trace = {0, kTrace}, .span = 7, .flags = wire::kWasOpen | 1, .capture_bits = 1});
  EXPECT_TRUE(program().send(tags_pdu({{0, "a"}}) +
                             wire::pdu_of(wire::append_events, 1, control_, {}, {}, body)));
  EXPECT_EQ(monitor->read(1).entries.at(0).span->flags, 1u);
}

TEST_F(BlackBoxesOfPrograms, SayWhatIsAReason) {
  const auto traces = [&](const std::string& filter, const Slot& open) {
    start_with([](auto&) {});
    const Monitor monitor = capture(filter);
    box_.put_slot(0, open);
    die(program());
    return monitor->take_wanted(10).size();
  };
  EXPECT_EQ(traces("tag=* died", slot(5, kTrace, 1)), 1u);
  EXPECT_EQ(traces("tag=*", slot(5, kTrace, 1)), 0u);
  EXPECT_EQ(traces("tag=* failed died", slot(5, kTrace, 1)), 0u);
  EXPECT_EQ(traces("tag=* failed died", slot(5, kTrace, 1, {}, wire::kIfFailed)), 1u);
  EXPECT_EQ(traces("tag=* slower=1s died", slot(5, kTrace, 1, 999ms)), 0u);
  EXPECT_EQ(traces("tag=* slower=1s died", slot(5, kTrace, 1, 1s)), 1u);
  EXPECT_EQ(traces("tag=* slower=1s", slot(5, kTrace, 1, 1s)), 1u);
  Slot inside = slot(5, kTrace, 1);
  inside.reason_for = 0;
  EXPECT_EQ(traces("tag=* died", inside), 0u);
}

TEST_F(BlackBoxesOfPrograms, WantTheLongestOpenTracesFirst) {
  const Monitor monitor = capture("tag=* died");
  for (std::uint64_t i = 0; i < 1'010; ++i) box_.put_slot(i, slot(i + 1, i + 1, 1, i * 1ms));
  die(program());
  EXPECT_EQ(monitor->take_wanted(2'000).size(), 1'000u);
  const Ids shown = ids(monitor);
  EXPECT_EQ(shown.size(), 1'000u);
  EXPECT_EQ(shown.front(), 11u);
  EXPECT_EQ(spans().totals().missed[static_cast<std::size_t>(MissedCause::Limit)], 10u);
}

// It was killed between its decision and its message.
TEST_F(BlackBoxesOfPrograms, WantWhatTheProcessWanted) {
  const Monitor monitor = capture("tag=* failed");
  Node slow = node(5, kTrace, 1);
  slow.slow_for = 1;
  box_.put_node(0, slow);
  box_.put_node(1, node(6, kTrace, 1));
  Slot ending = slot(7, kTrace + 1, 1);
  ending.head = std::uint64_t{2} << 32 | 1;
  box_.put_slot(0, ending);
  box_.put_node(2, node(8, kTrace + 1, 1));
  Record sent = record(kTrace + 2, 0);
  sent.to_send = 1;
  box_.add_record(sent, fields(9));
  box_.put_node(3, node(10, kTrace + 2, 1));
  box_.put_node(4, node(11, kTrace + 3, 1));  // of a trace that nobody wants
  die(program());
  EXPECT_EQ(ids(monitor), (Ids{5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(monitor->take_wanted(10).size(), 3u);
}

// It may have become another program by exec.
TEST_F(BlackBoxesOfPrograms, SayNothingOfWhatWasOpenIfTheProcessLivedOn) {
  const Monitor monitor = capture("tag=a");
  box_.put_slot(0, slot(5, kTrace, 1));
  box_.put_node(0, node(6, kTrace, 1));
  Child child;
  program(child.pid()).close();
  pass(2s);
  child.kill();
  pass({});
  EXPECT_EQ(ids(monitor), Ids{6});
  Child next;
  program(next.pid(), 2).close();
  program(next.pid(), 3).close();  // at once
  next.kill();
  pass({});
  EXPECT_EQ(ids(monitor), (Ids{5, 6, 6, 6}));  // of the last one
}

TEST_F(BlackBoxesOfPrograms, CountWhatIsTooMuch) {
  const Monitor monitor = capture("tag=a");
  for (std::uint64_t own = 1; own <= 80'000; ++own) box_.add_record(record(kTrace, 1), fields(own));
  die(program());
  const SpanTotals totals = spans().totals();
  const std::uint64_t missed = totals.missed[static_cast<std::size_t>(MissedCause::Full)];
  EXPECT_GT(missed, 0u);
  EXPECT_EQ(totals.captured, 80'000u);
  EXPECT_EQ(monitor->waiting() + missed, 80'000u);
  EXPECT_EQ(monitor->read(1).entries.at(0).span->span, missed + 1);  // the oldest are missed
}

TEST_F(BlackBoxesOfPrograms, CountWhatWasMissedSinceTheLastEvents) {
  const Monitor monitor = capture("tag=a");
  PduStream& peer = program();
  const std::uint64_t id = spans().captures()->at(0).id;
  wire::CaptureCount count{
      .capture = id, .captured = 9, .missed_full = 1, .missed_limit = 2, .missed_away = 1};
  ASSERT_TRUE(peer.send(wire::pdu_of(wire::append_events, 1, control_, std::vector{count},
                                     std::vector<wire::WantedTrace>{}, "")));
  count.missed_full = 4;
  count.missed_waiting = 5;
  count.missed_away = 0;  // no process counts less
  box_.put_missed(3, count);
  box_.put_node(0, node(5, kTrace, 1));
  die(peer);
  const SpanTotals totals = spans().totals();
  EXPECT_EQ(totals.missed, (std::array<std::uint64_t, 4>{4, 2, 5, 1}));
  EXPECT_EQ(totals.captured, 9u + 3 + 5 + 1);
}

TEST_F(BlackBoxesOfPrograms, CountNothingIfItIsImpossible) {
  const Monitor monitor = capture("tag=a");
  box_.put_missed(0, {.capture = spans().captures()->at(0).id, .missed_full = UINT64_MAX});
  die(program());
  EXPECT_EQ(spans().totals().captured, 0u);
}

TEST_F(BlackBoxesOfPrograms, ShowTagsAsAnyOther) {
  const Monitor monitor = capture("tag=a");
  box_.add_tag(1, kTag + 1, "a\nb");
  Node of_tag = node(5, kTrace, 1);
  of_tag.tag = kTag + 1;
  box_.put_node(0, of_tag);
  die(program());
  EXPECT_EQ(*monitor->read(1).entries.at(0).span->tag, "a\\x0ab");
}

class BlackBoxesOnSockets : public CollectorFixture {};

TEST_F(BlackBoxesOnSockets, AreReadAfterAKill) {
  collector();
  const Monitor monitor = collector_->spans().capture("tag=a", {});
  constexpr std::uint64_t kSpans = 9'000;
  BoxMemory box(1u << 20);
  for (std::uint64_t own = 1; own <= kSpans; ++own) box.add_record(record(kTrace, 1), fields(own));
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  Child child([&] {
    TestPeer peer = TestPeer::unix_socket(socket_path());
    const auto welcome = peer.hello(1);
    if (!welcome || !welcome->control) ::_exit(1);
    box.add_set(1, welcome->control->number);
    if (!peer.send_with(batch_pdu(1, {}), {box.descriptor()}) || peer.next_batch_ack() != 1)
      ::_exit(1);
    if (::write(ready[1], "", 1) == 1) ::pause();
    ::_exit(1);
  });
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  child.kill();
  EXPECT_TRUE(eventually([&] { return collector_->is_quiet(); }));
  EXPECT_EQ(monitor->waiting(), kSpans);
  EXPECT_EQ(counters().boxes_read, 1u);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(BlackBoxesOnSockets, LeaveNoDescriptorOpen) {
  TestPeer peer = client();
  const std::size_t before = open_descriptors();
  BoxMemory box;
  const BoxMemory unsealed(4096, 0);
  std::uint64_t sequence = 0;
  const auto send = [&](const std::vector<int>& descriptors) {
    return peer.send_with(batch_pdu(++sequence, {}), descriptors) &&
           peer.next_batch_ack() == sequence;
  };
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(send({box.descriptor()}));
    EXPECT_TRUE(send({unsealed.descriptor()}));
    EXPECT_TRUE(send({box.descriptor(), unsealed.descriptor(), box.descriptor()}));
  }
  EXPECT_EQ(counters().boxes_refused, 20u);
  EXPECT_EQ(open_descriptors(), before + 2 + BlackBoxes::kDescriptors);
  EXPECT_TRUE(peer.leave());
  peer.close();
  EXPECT_TRUE(eventually([&] { return collector_->is_quiet(); }));
  EXPECT_EQ(open_descriptors(), before + 2 - 2);
}

}  // namespace
}  // namespace pcp::trace::agent
