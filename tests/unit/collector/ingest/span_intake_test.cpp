// SPDX-License-Identifier: LGPL-2.1-or-later
// Programs that are told what to capture, and send spans.
#include "collector/ingest/span_intake.hpp"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "collector/spans/span_text.hpp"
#include "unit/collector/ingest/agent_side.hpp"
#include "unit/collector/ingest/collector_fixture.hpp"

namespace pcp::trace::agent {
namespace {

using namespace std::chrono_literals;
using wire::PduType;
using Ids = std::vector<std::uint64_t>;

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
                       const std::vector<wire::CaptureCount>& counts = {},
                       const std::vector<wire::WantedTrace>& wanted = {}) {
  std::string body;
  for (const wire::Span& span : spans) wire::append_span(body, span);
  return wire::pdu_of(wire::append_events, sequence, control, counts, wanted, body);
}

// Reads until the next CONTROL. Gives nothing at the end.
std::optional<wire::Control> next_control(PduStream& peer) {
  auto pdu = peer.next();
  while (pdu && pdu->type != PduType::Control) pdu = peer.next();
  return pdu ? wire::decode_control(pdu->payload) : std::nullopt;
}

// True once the agent has acknowledged these EVENTS.
bool deliver_events(PduStream& peer, std::uint64_t sequence, const std::string& pdu) {
  return peer.send(pdu) && peer.next_as(PduType::EventsAck, wire::decode_events_ack) == sequence;
}

Ids ids(const SpanReading& reading) {
  Ids all;
  for (const auto& entry : reading.entries) all.push_back(entry.span->span);
  return all;
}

// Programs of an agent with or without sockets.
template <typename Agent>
class ProgramsOf : public Agent {
 protected:
  // One that has defined its tag, and knows the captures of that time.
  template <typename Peer>
  Peer program(std::uint8_t session, Peer&& peer) {
    const auto welcome = peer.hello(session);
    EXPECT_TRUE(welcome);
    control_ = welcome ? welcome->control : std::nullopt;
    EXPECT_TRUE(peer.send(tags_pdu({{1, "request"}})));
    return std::forward<Peer>(peer);
  }

  std::optional<wire::Control> control_;  // of the last program
};

class SpansOfPrograms : public ProgramsOf<AgentSide> {
 protected:
  std::unique_ptr<SharedSpans::Subscription> capture(const std::string& filter,
                                                     Audience audience = kEverybody) {
    return spans().capture(filter, audience);
  }
  using ProgramsOf::program;
  PduStream& program(std::uint8_t session = 1) { return program(session, unix_socket()); }

  // The filters that the last program knows.
  std::vector<std::string> filters() const {
    std::vector<std::string> all;
    if (control_)
      for (const wire::Capture& each : control_->captures) all.push_back(each.filter);
    return all;
  }
};

// A program that knows one capture, of everybody.
class SpansThatAreAskedFor : public SpansOfPrograms {
 protected:
  bool deliver(std::uint64_t sequence, const std::vector<wire::Span>& spans,
               const std::vector<wire::CaptureCount>& counts = {}) {
    return deliver_events(peer_, sequence, events_pdu(sequence, number_, spans, counts));
  }
  void expect_refused(const std::string& pdu) {
    ASSERT_TRUE(peer_.send(pdu));
    EXPECT_TRUE(peer_.next_bye());
    EXPECT_EQ(spans().totals().captured, 0u);
    EXPECT_EQ(spans().totals().missed, MissedCounts{});
    EXPECT_EQ(monitor_->read(1).missed(0), 0u);
    EXPECT_EQ(monitor_->waiting(), 0u);
  }

  std::unique_ptr<SharedSpans::Subscription> monitor_ = capture("tag=a");
  PduStream& peer_ = program();
  const std::uint64_t number_ = control_.value().number;
  const std::uint64_t capture_ = control_.value().captures.at(0).id;
};

TEST_F(SpansThatAreAskedFor, AreTakenOnceAndAcknowledged) {
  EXPECT_TRUE(deliver(1, {span_at(1, 5), span_at(1, 6)}));
  EXPECT_TRUE(deliver(1, {span_at(1, 5), span_at(1, 6)}));
  EXPECT_TRUE(deliver(2, {span_at(1, 7)}));
  EXPECT_EQ(ids(monitor_->read(100)), (Ids{5, 6, 7}));
}

TEST_F(SpansThatAreAskedFor, AreTakenOnceAcrossConnections) {
  EXPECT_TRUE(deliver(1, {span_at(1, 5)}));
  peer_.close();
  PduStream& again = unix_socket();
  const auto welcome = again.hello(1);
  ASSERT_TRUE(welcome);
  EXPECT_EQ(welcome->last_events, 1u);
  EXPECT_TRUE(welcome->control);
  EXPECT_TRUE(deliver_events(again, 1, events_pdu(1, number_, {span_at(1, 5)})));
  EXPECT_EQ(ids(monitor_->read(100)), (Ids{5}));
}

TEST_F(SpansThatAreAskedFor, HaveTextsOfTheirOwn) {
  wire::Span span = span_at(1, 5);
  const std::string too_long(kMostAttributeBytes, 'x');
  const std::array<wire::SpanAttribute, 3> attributes{
      {{"route", "/cart\n", {}}, {"query", too_long, {}}, {"rows", {}, 12.0}}};
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
  EXPECT_EQ(stored.left_out, 1u);
  EXPECT_EQ(stored.links, "00000000000000010000000000000002-0000000000000003");
  EXPECT_EQ(stored.reason, "tired\\x0a");
  EXPECT_EQ(stored.source->service, "service");
  EXPECT_EQ(stored.source->process, "program");
  EXPECT_EQ(stored.source->host, "");
  EXPECT_EQ(stored.source->pid, static_cast<std::uint32_t>(::getpid()));
}

TEST_F(SpansThatAreAskedFor, MayNotBeOfACaptureThatTheyWereNotToldOf) {
  expect_refused(events_pdu(1, number_ + 1, {span_at(1, 5)}));
}

TEST_F(SpansThatAreAskedFor, MayNotHaveATagThatIsNotDefined) {
  wire::Span span = span_at(1, 6);
  span.tag_id = 2;
  expect_refused(events_pdu(1, number_, {span_at(1, 5), span}));
}

TEST_F(SpansThatAreAskedFor, AreNotBelievedToBeMoreThanThereCanBe) {
  constexpr std::uint64_t kMost = wire::kMaxCaptureCount;
  expect_refused(events_pdu(1, number_, {span_at(1, 5)}, {{capture_, kMost, 0, kMost, 0, 0}}));
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
  const SpanTotals totals = spans().totals();
  EXPECT_GT(totals.captured, 900'000'000u);
  EXPECT_LE(totals.captured, most);
}

TEST_F(SpansThatAreAskedFor, AreCountedAsTheySay) {
  EXPECT_TRUE(deliver(1, {}, {{capture_, 10, 1, 2, 0, 0}}));
  EXPECT_TRUE(deliver(2, {}, {{capture_, 15, 1, 3, 1, 0}}));
  EXPECT_TRUE(deliver(3, {}, {{capture_ + 1, 15, 1, 3, 1, 9}}));
  const SpanTotals totals = spans().totals();
  EXPECT_EQ(totals.captured, 15u);
  EXPECT_EQ(totals.missed, (MissedCounts{1, 3, 1, 0}));
  EXPECT_EQ(monitor_->read(1).missed(0), 5u);
}

TEST_F(SpansThatAreAskedFor, AreCountedFromTheBeginningOnceTheirCountsFall) {
  EXPECT_TRUE(deliver(1, {}, {{capture_, 10, 5, 0, 0, 0}}));
  EXPECT_TRUE(deliver(2, {}, {{capture_, 20, 3, 0, 0, 0}}));
  const SpanTotals totals = spans().totals();
  EXPECT_EQ(totals.captured, 30u);
  EXPECT_EQ(totals.missed, (MissedCounts{8, 0, 0, 0}));
}

// Two programs of one user: one is over its limit, and leaves out half of the traces.
TEST_F(SpansThatAreAskedFor, AreOfTracesThatEachProgramTakes) {
  wire::Span low = span_at(1, 5);
  low.trace.low = wire::kAllIds / 2 - 1;
  wire::Span high = span_at(1, 6);
  high.trace.low = wire::kAllIds / 2;
  EXPECT_TRUE(deliver(1, {high}, {{.capture = capture_, .threshold = wire::kAllIds / 2}}));
  EXPECT_TRUE(deliver_events(program(2), 1, events_pdu(1, number_, {low, high})));
  EXPECT_EQ(ids(monitor_->read(100)), (Ids{6, 6}));
  EXPECT_EQ(monitor_->read(100).missed(2), 1u);
  EXPECT_EQ(spans().totals().missed, (MissedCounts{0, 1, 0, 0}));
}

// Over TCP all users of this host are one: a program could hide the traces of another user.
TEST_F(SpansThatAreAskedFor, OverTcpAreOfAllTraces) {
  for (std::uint8_t session = 2; session < 4; ++session) {
    const std::vector<wire::CaptureCount> counts{{.capture = capture_, .threshold = wire::kAllIds}};
    EXPECT_TRUE(deliver_events(program(session, tcp()), 1,
                               events_pdu(1, number_, {span_at(1, session)}, counts)));
  }
  EXPECT_EQ(ids(monitor_->read(100)), (Ids{2, 3}));
}

TEST_F(SpansOfPrograms, AreWantedFromTheWelcomeOn) {
  start_with([](auto& options) { options.max_spans_a_second = 100'000; });
  const auto monitor = capture("tag=a");
  program();
  EXPECT_EQ(filters(), std::vector<std::string>{"tag=a"});
  EXPECT_EQ(control_.value().captures[0].bit, 0u);
  EXPECT_EQ(control_.value().most_a_second, 100'000u);
}

TEST_F(SpansOfPrograms, AreNotSpokenOfUntilSomebodyWantsThem) {
  PduStream& peer = program();
  EXPECT_FALSE(control_);
  tell_captures();
  ASSERT_TRUE(peer.deliver(1, entry(1, TraceType::Point, {1})));
}

TEST_F(SpansOfPrograms, AreAskedForWhileTheyRun) {
  PduStream& peer = program();
  auto monitor = capture("tag=a");
  tell_captures();
  const auto first = next_control(peer);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->captures.size(), 1u);
  EXPECT_EQ(first->most_a_second, 20'000u);
  monitor.reset();
  tell_captures();
  const auto second = next_control(peer);
  ASSERT_TRUE(second);
  EXPECT_GT(second->number, first->number);
  EXPECT_TRUE(second->captures.empty());
}

TEST_F(SpansOfPrograms, OfOtherUsersAreNotAskedForNorBelieved) {
  const auto others = capture("tag=a", {::getuid() + 1});
  const auto own = capture("tag=b", {::getuid()});
  PduStream& peer = program();
  EXPECT_EQ(filters(), std::vector<std::string>{"tag=b"});
  EXPECT_TRUE(deliver_events(peer, 1, events_pdu(1, control_.value().number, {span_at(0b11, 5)})));
  EXPECT_EQ(others->waiting(), 0u);
  EXPECT_EQ(own->waiting(), 1u);
}

TEST_F(SpansOfPrograms, OverTcpAreThoseWhoSeeEverybodys) {
  const auto own = capture("tag=b", {::getuid()});
  const auto everybodys = capture("tag=a");
  program(1, tcp());
  EXPECT_EQ(filters(), std::vector<std::string>{"tag=a"});
}

// Reads until the next WANTED. Gives nothing at the end.
std::vector<wire::WantedTrace> next_wanted(PduStream& peer) {
  auto pdu = peer.next();
  while (pdu && pdu->type != PduType::Wanted) pdu = peer.next();
  return pdu ? wire::decode_wanted(pdu->payload).value() : std::vector<wire::WantedTrace>{};
}

using Wanted = std::vector<wire::WantedTrace>;

Wanted wanted_from(std::uint64_t first, std::size_t count) {
  Wanted all(count, {first, 1});
  for (wire::WantedTrace& each : all) each.hash = first++;
  return all;
}

TEST_F(SpansThatAreAskedFor, AreOfTracesThatOtherProgramsWant) {
  PduStream& other = program(2);
  for (std::uint64_t sequence = 1; sequence <= 2; ++sequence)  // the second time it is no news
    EXPECT_TRUE(deliver_events(peer_, sequence,
                               events_pdu(sequence, number_, {}, {}, {{77, 0b11}, {78, 0b10}})));
  tell_captures();
  EXPECT_EQ(next_wanted(other), (Wanted{{77, 1}}));
  tell_captures();
  EXPECT_EQ(next_wanted(other), Wanted{});
  EXPECT_EQ(next_wanted(program(3)), (Wanted{{77, 1}}));  // one that begins later
}

TEST_F(SpansOfPrograms, AreNotOfTracesThatOtherUsersWant) {
  const auto own = capture("tag=b", {::getuid()});
  const auto everybodys = capture("tag=a");
  PduStream& peer = program();
  PduStream& stranger = program(2, tcp());
  const std::uint64_t number = control_.value().number;
  EXPECT_TRUE(deliver_events(stranger, 1, events_pdu(1, number, {}, {}, {{77, 0b11}})));
  EXPECT_TRUE(deliver_events(peer, 1, events_pdu(1, number, {}, {}, {{78, 0b11}})));
  tell_captures();
  EXPECT_EQ(next_wanted(peer), (Wanted{{77, 0b10}, {78, 0b11}}));
  EXPECT_EQ(next_wanted(stranger), (Wanted{{77, 0b10}, {78, 0b10}}));
}

TEST_F(SpansThatAreAskedFor, AreNotOfTracesThatAnEarlierMonitorWanted) {
  EXPECT_TRUE(deliver_events(peer_, 1, events_pdu(1, number_, {}, {}, {{77, 1}})));
  monitor_.reset();
  const auto next = capture("tag=b");
  PduStream& other = program(2);
  EXPECT_EQ(control_.value().captures[0].bit, 0u);
  EXPECT_EQ(next_wanted(other), Wanted{});
}

TEST_F(SpansThatAreAskedFor, AreOfAThousandWantedTracesOfAUserASecond) {
  PduStream& other = program(2);
  EXPECT_TRUE(deliver_events(peer_, 1, events_pdu(1, number_, {}, {}, wanted_from(1, 1'001))));
  tell_captures();
  EXPECT_EQ(next_wanted(other).size(), 1'000u);
  EXPECT_EQ(monitor_->read(1).missed(0), 1u);
  EXPECT_EQ(next_wanted(peer_).size(), 1'000u);
  pass(1s);
  EXPECT_TRUE(deliver_events(peer_, 2, events_pdu(2, number_, {}, {}, wanted_from(1'002, 1))));
  tell_captures();
  EXPECT_EQ(next_wanted(other).size(), 1u);
}

// Programs that have ended left parts of two traces. Then another one wants one of them.
TEST_F(SpansThatAreAskedFor, AreHeldUntilTheirTraceIsWanted) {
  const auto held = [](std::uint64_t trace, std::uint64_t id) {
    wire::Span span = span_at(1, id);
    span.trace.low = trace;
    span.flags = wire::kIsHeld | wire::kWasOpen;  // the latter is not for programs to say
    return span;
  };
  EXPECT_TRUE(deliver(1, {held(1, 5), held(2, 6), held(1, 7)}));
  EXPECT_EQ(monitor_->waiting(), 0u);
  const Wanted wanted{{wire::hash_of_trace(1), 1}};
  EXPECT_TRUE(deliver_events(program(2), 1, events_pdu(1, number_, {}, {}, wanted)));
  EXPECT_EQ(ids(monitor_->read(100)), (Ids{5, 7}));
  EXPECT_EQ(monitor_->read(1).entries[0].span->flags, 0u);
  EXPECT_TRUE(deliver(2, {held(1, 8), held(2, 9)}));  // wanted before
  EXPECT_EQ(ids(monitor_->read(100)), (Ids{5, 7, 8}));
}

TEST_F(SpansThatAreAskedFor, AreMissedIfAProgramWasNotToldInTime) {
  PduStream& other = program(2);
  for (std::uint64_t sequence = 1; sequence <= 42; ++sequence, pass(1s))
    EXPECT_TRUE(deliver_events(
        peer_, sequence, events_pdu(sequence, number_, {}, {}, wanted_from(sequence * 100, 100))));
  tell_captures();
  EXPECT_EQ(next_wanted(other).size(), wire::kMaxWanted);
  EXPECT_EQ(monitor_->read(1).missed(0), 2u);  // the first program was not told either
}

// Programs that say how much they would like to send, and rounds of one second.
struct Shares {
  Shares() {
    alice.name = "alice";
    bob.name = "bob";
    intake.tick(now);
  }

  struct Program {
    explicit Program(SessionUser& user, std::uint8_t number) {
      session.user = &user;
      session.id[0] = number;
    }
    Session session;
    std::uint64_t captured = 0;
  };

  Program& program(SessionUser& user) {
    Program& made = all_programs.emplace_back(user, static_cast<std::uint8_t>(all_programs.size()));
    EXPECT_TRUE(intake.control_for(made.session, peer));
    return made;
  }
  std::vector<Program*> programs(std::size_t count, SessionUser& user) {
    std::vector<Program*> made;
    while (made.size() < count) made.push_back(&program(user));
    return made;
  }

  // In this round it captures so many spans, or misses them for its limit.
  void want(Program& its, std::uint64_t more) {
    its.captured += more;
    wire::Events events;
    events.sequence = its.session.spans.last_events + 1;
    events.control = its.session.spans.told;
    events.counts = {{capture, its.captured, 0, its.captured / 2, 0, 0}};
    EXPECT_FALSE(intake.accept(events, its.session, peer));
  }
  void want(const std::vector<Program*>& all, std::uint64_t more) {
    for (Program* const each : all) want(*each, more);
  }

  // The round ends. Gives how many programs are told of another share.
  std::size_t end_round() {
    now += 1s;
    intake.tick(now);
    if (!intake.has_changed()) return 0;
    return static_cast<std::size_t>(std::count_if(
        all_programs.begin(), all_programs.end(),
        [this](auto& each) { return intake.news_for(each.session, peer).has_value(); }));
  }
  static std::uint32_t share(const Program& its) { return its.session.spans.most_a_second; }

  static constexpr std::uint32_t kWhole = 20'000;

  Instant now{1h};
  SharedSpans spans;
  IngestCounter unsplit;
  TagFinder finder{unsplit};
  SpanIntake intake{spans, finder, kWhole};
  std::unique_ptr<SharedSpans::Subscription> monitor =
      spans.capture("tag=a limit=100000/s", kEverybody);
  std::uint64_t capture = spans.captures()->at(0).id;
  Peer peer;
  SessionUser alice;
  SessionUser bob;
  std::list<Program> all_programs;
};

TEST(SharesOfPrograms, AreTheWholeOrWhatThoseWithLessLeave) {
  struct Group {
    std::size_t programs;
    bool is_of_another_user;
    std::uint64_t wanted;
    std::uint32_t share;
  };
  const struct {
    const char* what;
    std::vector<Group> groups;
  } cases[] = {
      {"the whole is enough for all", {{5, false, 3'430, Shares::kWhole}}},
      {"an equal part for each", {{10, false, 5'000, 2'000}}},
      {"what those with less leave", {{4, false, 1'000, 8'000}, {2, false, 30'000, 8'000}}},
      {"no less for the many of another user", {{1, false, 9'000, 11'000}, {50, true, 5'000, 220}}},
      {"at least a hundred", {{250, false, 5'000, 100}}},
  };
  for (const auto& [what, groups] : cases) {
    SCOPED_TRACE(what);
    Shares shares;
    std::vector<std::vector<Shares::Program*>> all;
    for (const Group& each : groups) {
      all.push_back(
          shares.programs(each.programs, each.is_of_another_user ? shares.bob : shares.alice));
      shares.want(all.back(), each.wanted);
    }
    const bool changes = groups.front().share != Shares::kWhole;
    EXPECT_EQ(shares.end_round(), changes ? shares.all_programs.size() : 0u);
    for (std::size_t i = 0; i < groups.size(); ++i)
      for (const Shares::Program* each : all[i]) EXPECT_EQ(Shares::share(*each), groups[i].share);
  }
}

TEST(SharesOfPrograms, AreNoSmallerForManyThatSendLittleAndEnd) {
  Shares shares;
  Shares::Program& server = shares.program(shares.alice);
  for (int round = 0; round < 3; ++round) {
    shares.want(server, 15'000);
    shares.want(shares.programs(100, shares.alice), 2);
    EXPECT_EQ(shares.end_round(), 0u);
  }
  EXPECT_EQ(Shares::share(server), Shares::kWhole);
}

TEST(SharesOfPrograms, StayForSmallChangesAndAreTheWholeOnceTheOthersHaveEnded) {
  Shares shares;
  const auto ten = shares.programs(10, shares.alice);
  shares.want(ten, 3'000);
  shares.end_round();
  EXPECT_EQ(Shares::share(*ten[0]), 2'000u);
  for (const std::size_t count : {9u, 10u, 9u, 10u}) {
    for (std::size_t i = 0; i < count; ++i) shares.want(*ten[i], 3'000);
    EXPECT_EQ(shares.end_round(), 0u) << count;
  }
  shares.want(*ten[0], 5'000);
  shares.end_round();
  EXPECT_EQ(Shares::share(*ten[0]), Shares::kWhole);
}

TEST(SharesOfPrograms, AreNotForWhatTheFilterItselfForbids) {
  Shares shares;
  const auto other = shares.spans.capture("tag=a limit=1000/s", kEverybody);
  shares.capture = shares.spans.captures()->at(1).id;
  shares.want(shares.programs(10, shares.alice), 50'000);
  EXPECT_EQ(shares.end_round(), 0u);
}

// The server alone decides when it tells programs, and when it looks after their spans.
class SpansOfServedPrograms : public ProgramsOf<CollectorFixture> {
 protected:
  std::unique_ptr<SharedSpans::Subscription> capture(const std::string& filter) {
    return collector_->spans().capture(filter, kEverybody);
  }
  using ProgramsOf::program;
  TestPeer program(std::uint8_t session = 1) { return program(session, unix_socket()); }
};

// Reads until the program is told to capture exactly this; `before` counts earlier CONTROLs.
bool eventually_told(TestPeer& peer, const std::string& filter, int* before = nullptr) {
  while (const auto control = next_control(peer)) {
    if (control->captures.size() == 1 && control->captures[0].filter == filter) return true;
    if (before != nullptr) ++*before;
  }
  return false;
}

std::size_t resident_bytes() {
  std::size_t all = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST_F(SpansOfServedPrograms, GiveTheirMemoryBackOnceNobodyWantsThem) {
  if (mallinfo2().uordblks == 0) GTEST_SKIP() << "a sanitizer has a heap of its own";
  start();
  auto monitor = capture("tag=a");
  TestPeer peer = program();
  const std::uint64_t number = control_.value().number;
  wire::Span span = span_at(1, 5);
  const std::string text(2000, 'x');
  std::vector<wire::SpanAttribute> attributes(5, {"key", text, {}});
  span.attributes = attributes;
  const std::size_t before = resident_bytes();
  for (std::uint64_t sequence = 1; collector_->spans().totals().overwritten == 0; ++sequence)
    ASSERT_TRUE(deliver_events(peer, sequence, events_pdu(sequence, number, {span, span, span})));
  EXPECT_GT(resident_bytes(), before + (40u << 20));
  EXPECT_LT(resident_bytes(), before + (72u << 20));
  monitor.reset();
  EXPECT_TRUE(eventually([&] { return resident_bytes() < before + (8u << 20); }))
      << resident_bytes() - before;
}

TEST_F(SpansOfServedPrograms, AreToldOfTheirShare) {
  start_with([](auto& options) {
    options.unfinished_pdu = 40ms;  // so often the agent looks after its sessions
    options.max_spans_a_second = 300;
  });
  const auto monitor = capture("tag=a limit=1000/s");
  std::array peers{program(1), program(2)};
  const wire::Control known = control_.value();
  const std::uint64_t id = known.captures.at(0).id;
  bool is_told = false;
  for (std::uint64_t sequence = 1; !is_told; ++sequence) {
    for (TestPeer& peer : peers) {
      ASSERT_TRUE(
          peer.send(events_pdu(sequence, known.number, {}, {{id, sequence * 1000, 0, 0, 0, 0}})));
      auto answer = peer.next();
      for (; answer && answer->type == PduType::Control; answer = peer.next())
        is_told |= wire::decode_control(answer->payload).value().most_a_second == 150;
      ASSERT_TRUE(answer && answer->type == PduType::EventsAck);
    }
  }
}

// However often monitors change their filters.
TEST_F(SpansOfServedPrograms, AreAskedForTenTimesASecondAtMost) {
  TestPeer peer = program();
  const Instant begin = steady_now();
  for (int i = 0; i < 2000; ++i) capture("tag=" + std::to_string(i));
  const auto last = capture("tag=last");
  int told = 0;
  ASSERT_TRUE(eventually_told(peer, "tag=last", &told));
  EXPECT_LE(told, 1 + (steady_now() - begin) / 100ms);
}

// They are asked before the agent looks after its sessions, which its computing time would show.
TEST_F(SpansOfServedPrograms, AreAskedForSoon) {
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
TEST_F(SpansOfServedPrograms, AreAskedForOnceTheyHaveReadWhatWasSaidBefore) {
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
