// SPDX-License-Identifier: LGPL-2.1-or-later
// Reports of sessions about their transactions in flight.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/collector/ingest/agent_side.hpp"
#include "unit/collector/ingest/collector_fixture.hpp"

namespace pcp::trace::agent {
namespace {

using namespace std::chrono_literals;
using enum TraceType;
using wire::ByeReason;

constexpr std::uint64_t kSecond = 1'000'000'000;

// The smallest limit of tags with room for a bare name of tags with labels.
constexpr std::uint32_t kFew = 100;

std::string few_tags() {
  std::vector<std::string> names;
  for (std::uint32_t id = 0; id < kFew; ++id) names.push_back("tag " + std::to_string(id));
  std::vector<wire::TagDefinition> tags;
  for (std::uint32_t id = 0; id < kFew; ++id) tags.push_back({id, names[id]});
  return tags_pdu(tags);
}

class InFlightOf : public AgentSide {
 protected:
  // A program that has said HELLO, defined the tags "one", "two" and so on, and reports these
  // transactions for the first time.
  struct Program {
    PduStream& peer;
    std::uint64_t sequence = 0;

    bool say(const std::vector<wire::OpenCount>& open, bool anew = false) {
      ++sequence;
      return peer.deliver_batch(sequence, in_flight_pdu(sequence, open, anew));
    }
  };
  static Program program(PduStream& peer, std::uint8_t session,
                         const std::vector<wire::OpenCount>& open = {}) {
    EXPECT_TRUE(peer.hello(session));
    EXPECT_TRUE(peer.send(tags_pdu({{1, "one"}, {2, "two"}, {3, "three"}, {4, "four"}})));
    Program program{peer};
    if (!open.empty()) {
      EXPECT_TRUE(program.say(open, true));
    }
    return program;
  }
  Program program(std::uint8_t session, const std::vector<wire::OpenCount>& open = {}) {
    return program(unix_socket(), session, open);
  }

  TagValues::InFlight in_flight(const std::string& tag) {
    const auto found = values(Transact, tag);
    return found ? found->in_flight : TagValues::InFlight{};
  }
  std::uint64_t open(const std::string& tag) { return in_flight(tag).open; }
  std::uint64_t vanished(const std::string& tag) { return in_flight(tag).vanished; }
};

TEST_F(InFlightOf, AProcessIsShownWithItsNumberAgeAndPlace) {
  program(1, {{1, 3, 5 * kSecond, 4712}});
  const auto shown = in_flight("one");
  EXPECT_EQ(shown.open, 3u);
  EXPECT_GE(shown.oldest_age, 5s);
  EXPECT_LT(shown.oldest_age, 5s + kDeadline);
  EXPECT_EQ(shown.pid, static_cast<std::uint32_t>(::getpid()));  // by the kernel
  EXPECT_EQ(shown.tid, 4712u);
  EXPECT_EQ(count_of(Transact, "one"), 0u);
  EXPECT_FALSE(values(Point, "one"));

  program(tcp(), 2, {{1, 1, 100 * kSecond, 0}});
  EXPECT_EQ(open("one"), 4u);
  EXPECT_EQ(in_flight("one").pid, wire::kPid);  // by its own word
  EXPECT_EQ(in_flight("one").tid, 0u);
}

TEST_F(InFlightOf, ATagThatIsNotNamedStaysAsItWas) {
  Program program = this->program(1, {{1, 3, 0, 0}, {2, 1, 0, 0}});
  ASSERT_TRUE(program.say({{2, 5, 0, 0}}));
  EXPECT_EQ(open("one"), 3u);
  EXPECT_EQ(open("two"), 5u);
  ASSERT_TRUE(program.say({{1, 0, 0, 0}, {3, 0, 0, 0}}));
  EXPECT_EQ(open("one"), 0u);
  EXPECT_EQ(open("two"), 5u);
  EXPECT_FALSE(values(Transact, "three"));
  EXPECT_EQ(vanished("one"), 0u);
}

TEST_F(InFlightOf, AnewReplacesAllThatWasSaid) {
  Program program = this->program(1, {{1, 3, 0, 0}, {2, 1, 0, 0}});
  ASSERT_TRUE(program.say({{2, 4, 0, 0}}, true));
  EXPECT_EQ(open("one"), 0u);
  EXPECT_EQ(open("two"), 4u);
  ASSERT_TRUE(program.say({}, true));
  EXPECT_EQ(open("two"), 0u);
}

TEST_F(InFlightOf, ABatchThatWasAppliedBeforeIsTaken) {
  Program program = this->program(1, {{1, 3, 0, 0}});
  --program.sequence;
  ASSERT_TRUE(program.say({{1, 2, 0, 0}}));
  EXPECT_EQ(open("one"), 2u);
  EXPECT_EQ(counters().duplicates, 1u);
}

TEST_F(InFlightOf, ATagThatIsNotDefinedBreaksTheProtocol) {
  Program program = this->program(1);
  EXPECT_FALSE(program.say({{1, 3, 0, 0}, {9, 1, 0, 0}}, true));
  EXPECT_TRUE(program.peer.at_end());
  EXPECT_NE(log_line_with("tag id 9"), "");
  EXPECT_FALSE(values(Transact, "one"));
}

// An earlier connection's report is void also if the next connection does not begin anew.
TEST_F(InFlightOf, AProcessGoesWithItsConnectionAndComesBackWhenItSaysSo) {
  for (const bool anew : {true, false}) {
    start_with([](auto&) {});
    Program before = program(1, {{1, 3, 0, 0}, {2, 1, 0, 0}});
    before.peer.close();
    EXPECT_EQ(open("one"), 0u);
    Program after = program(1);
    EXPECT_EQ(open("one"), 0u);
    after.sequence = before.sequence;
    ASSERT_TRUE(after.say({{2, 7, 0, 0}}, anew));
    EXPECT_EQ(open("one"), 0u);
    EXPECT_EQ(open("two"), 7u);
    EXPECT_EQ(vanished("one") + vanished("two"), 0u);
    EXPECT_TRUE(after.peer.leave());
    EXPECT_EQ(vanished("one"), 0u);
    EXPECT_EQ(vanished("two"), 7u);
  }
}

TEST_F(InFlightOf, AConnectionThatIsTakenOverIsGoneAsWell) {
  program(1, {{1, 3, 0, 0}});
  Program young = program(1);
  EXPECT_EQ(open("one"), 0u);
  ASSERT_TRUE(young.say({{1, 2, 0, 0}}, true));
  EXPECT_EQ(open("one"), 2u);
}

TEST_F(InFlightOf, AProcessThatEndsVanishes) {
  Program program = this->program(1, {{1, 3, 0, 0}, {2, 1, 0, 0}});
  ASSERT_TRUE(program.say({{2, 0, 0, 0}}));
  EXPECT_TRUE(program.peer.leave());
  EXPECT_EQ(open("one"), 0u);
  EXPECT_EQ(vanished("one"), 3u);
  EXPECT_EQ(vanished("two"), 0u);
}

TEST_F(InFlightOf, AProcessThatDoesNotComeBackVanishes) {  // the process itself still runs
  program(1, {{1, 3, 0, 0}}).peer.close();
  pass(119s);
  EXPECT_EQ(vanished("one"), 0u);
  pass(1s);
  EXPECT_EQ(vanished("one"), 3u);
  EXPECT_EQ(open("one"), 0u);
  const auto welcome = unix_socket().hello(1);
  ASSERT_TRUE(welcome);
  EXPECT_TRUE(welcome->session_known);  // its counts are remembered for longer
}

// For five seconds, and only if the kernel says which process it is.
TEST_F(InFlightOf, AProcessThatEndsSoonAfterItsConnectionVanishes) {
  const auto child = [] {
    const pid_t pid = ::fork();
    while (pid == 0) ::pause();
    return pid;
  };
  const auto end = [](pid_t pid) {
    ::kill(pid, SIGKILL);
    EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
  };
  const pid_t early = child();
  const pid_t late = child();
  wire::Hello claim = hello_of(3);
  claim.pid = static_cast<std::uint32_t>(early);
  PduStream& liar = tcp();
  ASSERT_TRUE(liar.hello(claim) && liar.send(tags_pdu({{3, "three"}})));
  ASSERT_TRUE(Program{liar}.say({{3, 1, 0, 0}}, true));
  liar.close();
  program(unix_socket(early), 1, {{1, 1, 0, 0}}).peer.close();
  program(unix_socket(late), 2, {{2, 1, 0, 0}}).peer.close();
  end(early);
  pass(5s);
  end(late);
  pass(1s);
  EXPECT_EQ(vanished("one"), 1u);
  EXPECT_EQ(vanished("two") + vanished("three"), 0u);
  pass(114s);
  EXPECT_EQ(vanished("two") + vanished("three"), 2u);
}

// The server's own thread does this.
TEST_F(CollectorFixture, ThatEndsTakesTransactionsAsVanishedIfItsOwnerSaysSo) {
  start_with([](auto& options) { options.vanish_at_end = true; });
  const auto vanished = [this] { return values(Transact, "one")->in_flight.vanished; };
  TestPeer peer = client();
  ASSERT_TRUE(
      peer.deliver_batch(1, tags_pdu({{1, "one"}}) + in_flight_pdu(1, {{1, 3, 0, 0}}, true)));
  peer.close();
  ASSERT_TRUE(eventually([&] { return counters().connections == 0; }));
  EXPECT_EQ(vanished(), 0u);
  collector_->stop();
  EXPECT_EQ(vanished(), 3u);
}

TEST_F(InFlightOf, ASessionThatMakesRoomForAnotherVanishes) {
  start_with([](auto& options) { options.max_sessions_per_user = 1; });
  program(1, {{1, 3, 0, 0}}).peer.close();
  EXPECT_EQ(vanished("one"), 0u);
  program(2);
  EXPECT_EQ(vanished("one"), 3u);
}

TEST_F(InFlightOf, AProcessThatComesBackOnlyToEndVanishes) {
  program(1, {{1, 3, 0, 0}}).peer.close();
  EXPECT_TRUE(program(1).peer.leave());
  EXPECT_EQ(vanished("one"), 3u);
}

TEST_F(InFlightOf, AProcessIsShownAgainAfterAReset) {
  Program program = this->program(1, {{1, 3, 5 * kSecond, 9}, {2, 1, 0, 0}});
  this->program(2, {{1, 10, 0, 0}});
  for (int i = 0; i < 3; ++i) {
    reset();
    EXPECT_EQ(open("one"), 13u);
    EXPECT_EQ(open("two"), 1u);
    EXPECT_GE(in_flight("one").oldest_age, 5s);
    EXPECT_EQ(in_flight("one").tid, 9u);
  }
  ASSERT_TRUE(program.say({{1, 0, 0, 0}}));
  EXPECT_EQ(open("one"), 10u);
}

TEST_F(InFlightOf, AProcessThatIsGoneIsNotShownAgainAfterAReset) {
  program(1, {{1, 3, 0, 0}}).peer.close();
  program(1);
  program(2, {{2, 1, 0, 0}});
  reset();
  EXPECT_EQ(open("two"), 1u);
  EXPECT_FALSE(values(Transact, "one"));
}

TEST_F(InFlightOf, AProcessThatEndsAfterAResetVanishesAllTheSame) {
  start_with([](auto& options) { options.split = {"service"}; });
  Program program = this->program(1, {{1, 3, 0, 0}});
  EXPECT_EQ(open("one{service=service}"), 3u);
  program.peer.close();
  reset();
  EXPECT_TRUE(this->program(1).peer.leave());
  EXPECT_EQ(vanished("one{service=service}"), 3u);
  const auto name = instance(Transact, "one{service=service}");
  ASSERT_TRUE(name && name->origin);
  EXPECT_EQ(name->origin->labels.members(), R"("service":"service")");
}

TEST_F(InFlightOf, ATagHasItsDescriptionAndItsOrigin) {
  ASSERT_TRUE(client().deliver_batch(
      1, tags_pdu({{1, "one", "s", "the first"}}) + in_flight_pdu(1, {{1, 1, 0, 0}}, true)));
  const auto name = instance(Transact, "one");
  ASSERT_TRUE(name && name->origin && name->description);
  EXPECT_EQ(name->description->members(), R"("unit":"s","description":"the first")");
}

// Without room for more tags with labels, those of one name share a tag.
TEST_F(InFlightOf, IdsThatShareATagAddUp) {
  start_with([](auto& options) { options.max_tags_per_session = kFew; });
  PduStream& peer = client();
  ASSERT_TRUE(
      peer.deliver_batch(1, few_tags() + tags_pdu({{kFew, "b{k=1}"}, {kFew + 1, "b{k=2}"}}) +
                                in_flight_pdu(1, {{kFew, 1, 0, 0}, {kFew + 1, 10, 0, 0}}, true)));
  EXPECT_EQ(open("b"), 11u);
  ASSERT_TRUE(peer.deliver_batch(2, in_flight_pdu(2, {{kFew, 0, 0, 0}})));
  EXPECT_EQ(open("b"), 10u);
}

class InFlightLimits : public InFlightOf {};

TEST_F(InFlightLimits, AUserHasHalfOfTheTagsInFlight) {
  start_with([](auto& options) { options.max_in_flight = 4; });
  Program program = this->program(1, {{1, 1, 0, 0}});
  Program same_user = this->program(2, {{1, 10, 0, 0}, {2, 10, 0, 0}});
  EXPECT_EQ(open("one"), 11u);
  EXPECT_FALSE(values(Transact, "two"));
  EXPECT_EQ(counters().in_flight_left_out, 1u);

  ASSERT_TRUE(same_user.say({{1, 20, 0, 0}}));  // a tag with room may change
  EXPECT_EQ(open("one"), 21u);
  ASSERT_TRUE(program.say({{1, 0, 0, 0}}));
  ASSERT_TRUE(same_user.say({{2, 10, 0, 0}}));
  EXPECT_EQ(open("two"), 10u);
  EXPECT_EQ(counters().in_flight_left_out, 1u);
}

TEST_F(InFlightLimits, AnotherUserHasTheOtherHalfAndWhatIsRememberedTakesItsRoom) {
  start_with([](auto& options) { options.max_in_flight = 4; });
  program(1, {{1, 1, 0, 0}, {2, 1, 0, 0}}).peer.close();
  program(2, {{3, 1, 0, 0}});  // of the same user
  EXPECT_FALSE(values(Transact, "three"));
  EXPECT_EQ(counters().in_flight_left_out, 1u);
  program(tcp(), 3, {{1, 10, 0, 0}, {2, 10, 0, 0}});
  EXPECT_EQ(open("one"), 10u);
  EXPECT_EQ(open("two"), 10u);
  program(1, {{4, 1, 0, 0}});
  EXPECT_EQ(open("four"), 1u);
  EXPECT_EQ(counters().in_flight_left_out, 1u);
}

TEST_F(InFlightLimits, SoManyTagsAreInFlightOfASession) {
  start_with([](auto& options) { options.max_tags_per_session = kFew; });
  std::vector<wire::OpenCount> all;
  for (std::uint32_t id = 0; id <= kFew; ++id) all.push_back({id, 1, 0, 0});
  ASSERT_TRUE(client().deliver_batch(
      1, few_tags() + tags_pdu({{kFew, "b{k=1}"}}) + in_flight_pdu(1, all, true)));
  EXPECT_EQ(open("tag 99"), 1u);
  EXPECT_EQ(open("b"), 0u);
  EXPECT_EQ(counters().in_flight_left_out, 1u);
}

TEST_F(InFlightLimits, AllUsersTogetherHaveSoManyTagsInFlight) {
  start_with([](auto& options) { options.max_in_flight = 5; });
  std::uint8_t session = 0;
  for (const char* user : {"192.0.2.1", "192.0.2.2", "192.0.2.3"})
    program(tcp(user), ++session, {{1, 1, 0, 0}, {2, 1, 0, 0}, {3, 1, 0, 0}, {4, 1, 0, 0}});
  EXPECT_EQ(open("one") + open("two"), 5u);
  EXPECT_EQ(counters().in_flight_left_out, 2u + 2u + 3u);
}

// Peers are served before the next step.
TEST_F(InFlightOf, AProcessIsEnteredAgainALittleAtATime) {
  const auto entered = [&] { return open("one") + open("two") + open("three"); };
  for (std::uint8_t session = 1; session <= 2; ++session)
    program(session, {{1, 1, 0, 0}, {2, 1, 0, 0}, {3, 1, 0, 0}});
  EXPECT_FALSE(enter_again(2));
  reset_engine();
  EXPECT_EQ(entered(), 0u);
  EXPECT_TRUE(enter_again(2));
  EXPECT_EQ(entered(), 2u);
  reset_engine();  // begins again
  while (enter_again(2)) continue;
  EXPECT_EQ(entered(), 6u);
}

}  // namespace
}  // namespace pcp::trace::agent
