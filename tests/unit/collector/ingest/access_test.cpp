// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/access.hpp"

#include <ifaddrs.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/error_of.hpp"

namespace pcp::trace::agent {
namespace {

using Rules = std::vector<std::string>;

AccessList list_of(const Rules& rules) {
  AccessList list;
  for (const std::string& rule : rules) EXPECT_EQ(error_of(list.add(rule)), "");
  return list;
}

// An address of this machine other than loopback, if it has one.
std::string own_address() {
  ifaddrs* found = nullptr;
  if (getifaddrs(&found) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> list(found, freeifaddrs);
  for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != AF_INET) continue;
    char text[NI_MAXHOST];
    if (getnameinfo(entry->ifa_addr, sizeof(sockaddr_in), text, sizeof text, nullptr, 0,
                    NI_NUMERICHOST) != 0)
      continue;
    if (std::string(text).rfind("127.", 0) != 0) return text;
  }
  return {};
}

struct Decision {
  Rules rules;
  std::string peer;
  Access expected;
};

void PrintTo(const Decision& decision, std::ostream* out) {
  for (const std::string& rule : decision.rules) *out << rule << " ";
  *out << "peer " << decision.peer;
}

class AccessDecision : public testing::TestWithParam<Decision> {};

TEST_P(AccessDecision, IsAsTheRulesSay) {
  EXPECT_EQ(list_of(GetParam().rules).acquire(GetParam().peer).access, GetParam().expected);
}

constexpr Access kYes = Access::Allowed;
constexpr Access kNo = Access::NotPermitted;

INSTANTIATE_TEST_SUITE_P(
    NoRuleNamesThePeer, AccessDecision,
    testing::Values(Decision{{}, "127.0.0.1", kYes}, Decision{{}, "127.9.8.7", kYes},
                    Decision{{}, "::1", kYes}, Decision{{}, "local:", kYes},
                    Decision{{}, "::ffff:127.0.0.1", kYes}, Decision{{}, "192.0.2.77", kNo},
                    Decision{{}, "2001:db8::1", kNo}, Decision{{}, "nonsense", kNo},
                    Decision{{"disallow:192.0.2.77"}, "192.0.2.78", kNo},
                    Decision{{"disallow:192.0.2.77"}, "127.0.0.1", kYes}));

INSTANTIATE_TEST_SUITE_P(
    Addresses, AccessDecision,
    testing::Values(Decision{{"allow:192.0.2.77:0"}, "192.0.2.77", kYes},
                    Decision{{"allow:192.0.2.77"}, "192.0.2.77", kYes},
                    Decision{{"ALLOW:192.0.2.77:0"}, "192.0.2.77", kYes},
                    Decision{{"allow:192.0.2.77:0"}, "::ffff:192.0.2.77", kYes},
                    Decision{{"allow:::ffff:192.0.2.77"}, "192.0.2.77", kYes},
                    Decision{{"allow:192.0.2.77:0"}, "192.0.2.7", kNo},
                    Decision{{"disallow:127.0.0.1"}, "127.0.0.1", kNo},
                    Decision{{"disallow:127.0.0.1"}, "::1", kYes},
                    Decision{{"disallow:::1"}, "::1", kNo},
                    Decision{{"disallow:[::1]"}, "::1", kNo},
                    Decision{{"allow:2001:db8::1:7"}, "2001:db8::1", kYes},
                    Decision{{"allow:2001:db8::1:7"}, "2001:db8::1:7", kNo},
                    Decision{{"allow:*", "disallow:2001:db8::1:7"}, "2001:db8::1:7", kNo},
                    Decision{{"allow:*", "disallow:2001:db8::1:7"}, "2001:db8::1", kYes},
                    Decision{{"allow:[2001:db8::1:7]"}, "2001:db8::1:7", kYes},
                    Decision{{"allow:1:2:3:4:5:6:7:8"}, "1:2:3:4:5:6:7:8", kYes},
                    Decision{{"allow:1:2:3:4:5:6:7:8:9"}, "1:2:3:4:5:6:7:8", kYes},
                    Decision{{"allow:fe80::1"}, "fe80::1%eth0", kYes}));

INSTANTIATE_TEST_SUITE_P(
    Wildcards, AccessDecision,
    testing::Values(
        Decision{{"allow:192.0.2.*:0"}, "192.0.2.200", kYes},
        Decision{{"allow:192.0.2.*:0"}, "192.0.3.200", kNo},
        Decision{{"allow:192.0.*"}, "192.0.3.200", kYes},
        Decision{{"allow:192.*:5"}, "192.200.3.200", kYes},
        Decision{{"allow:192.*:5"}, "193.200.3.200", kNo},
        Decision{{"allow:.*:0"}, "8.8.8.8", kYes}, Decision{{"allow:.*:0"}, "2001:db8::1", kNo},
        Decision{{"disallow:.*"}, "127.0.0.1", kNo}, Decision{{"disallow:.*"}, "local:", kYes},
        Decision{{"allow::*:0"}, "2001:db8::1", kYes}, Decision{{"allow::*"}, "8.8.8.8", kNo},
        Decision{{"allow:2001:db8:*"}, "2001:db8:1:2:3:4:5:6", kYes},
        Decision{{"allow:2001:db8:*"}, "2001:db9::1", kNo},
        Decision{{"allow:1:2:3:4:5:6:7:*"}, "1:2:3:4:5:6:7:88", kYes},
        Decision{{"allow:fe80::*"}, "fe80::7", kYes},
        Decision{{"allow:fe80::*:3"}, "fe80::7", kYes},
        Decision{{"allow:fe80::*"}, "fe80::1:7", kNo}, Decision{{"allow:*:0"}, "8.8.8.8", kYes},
        Decision{{"allow:*"}, "2001:db8::1", kYes}, Decision{{"disallow:*"}, "127.0.0.1", kNo},
        Decision{{"disallow:*"}, "local:", kNo}));

INSTANTIATE_TEST_SUITE_P(
    TheUnixSocketAndThisMachine, AccessDecision,
    testing::Values(Decision{{"disallow:unix:"}, "local:", kNo},
                    Decision{{"disallow:unix:"}, "127.0.0.1", kYes},
                    Decision{{"disallow:local:*"}, "local:", kNo},
                    Decision{{"disallow:local:"}, "local:", kNo},
                    Decision{{"disallow:local:*"}, "127.0.0.1", kNo},
                    Decision{{"disallow:local:*"}, "::1", kNo},
                    Decision{{"disallow:localhost"}, "127.0.0.1", kNo},
                    Decision{{"disallow:LocalHost"}, "::1", kNo},
                    Decision{{"disallow:localhost"}, "local:", kYes},
                    Decision{{"disallow:*", "allow:local:*:4"}, "local:", kYes},
                    Decision{{"disallow:*", "allow:local:*:4"}, "127.0.0.1", kYes},
                    Decision{{"disallow:*", "allow:unix::4"}, "local:", kYes},
                    Decision{{"disallow:*", "allow:unix:"}, "127.0.0.1", kNo}));

INSTANTIATE_TEST_SUITE_P(
    TheMoreSpecificRuleWins, AccessDecision,
    testing::Values(Decision{{"disallow:192.0.2.*", "allow:192.0.2.7:0"}, "192.0.2.7", kYes},
                    Decision{{"allow:192.0.2.7:0", "disallow:192.0.2.*"}, "192.0.2.7", kYes},
                    Decision{{"allow:192.0.2.7:0", "disallow:192.0.2.*"}, "192.0.2.8", kNo},
                    Decision{{"allow:192.*", "disallow:192.0.*"}, "192.0.2.8", kNo},
                    Decision{{"disallow:192.0.*", "allow:192.*"}, "192.0.2.8", kNo},
                    Decision{{"disallow:192.0.*", "allow:192.*"}, "192.1.2.8", kYes},
                    Decision{{"allow:*", "disallow:.*"}, "192.0.2.8", kNo},
                    Decision{{"allow:*", "disallow::*"}, "fe80::1", kNo},
                    Decision{{"disallow:127.*", "allow:localhost"}, "127.0.0.1", kYes},
                    Decision{{"disallow:localhost", "allow:127.0.0.1"}, "127.0.0.1", kYes},
                    Decision{{"disallow:localhost", "allow:127.0.0.1"}, "127.0.0.2", kNo}));

TEST(AccessList, AMachinesOwnAddressIsLetInUnlessARuleNamesIt) {
  const std::string own = own_address();
  if (own.empty()) GTEST_SKIP() << "this machine has loopback addresses only";
  EXPECT_EQ(list_of({}).acquire(own).access, kYes);
  EXPECT_EQ(list_of({"disallow:localhost"}).acquire(own).access, kNo);
  EXPECT_EQ(list_of({"disallow:" + own}).acquire(own).access, kNo);
}

TEST(AccessList, ANameStandsForEveryAddressItHas) {
  char name[256];
  ASSERT_EQ(gethostname(name, sizeof name), 0);
  addrinfo* found = nullptr;
  AccessList list;
  EXPECT_EQ(error_of(list.add(std::string("disallow:") + name)), "");
  if (getaddrinfo(name, nullptr, nullptr, &found) != 0) {
    ASSERT_EQ(list.waiting().size(), 1);
    EXPECT_NE(list.waiting()[0].problem.find("look up this host"), std::string::npos);
    return;
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    char text[NI_MAXHOST];
    ASSERT_EQ(getnameinfo(entry->ai_addr, entry->ai_addrlen, text, sizeof text, nullptr, 0,
                          NI_NUMERICHOST),
              0);
    EXPECT_EQ(list.acquire(text).access, kNo) << text;
  }
}

Result<HostPatterns> no_answer(const std::string&) { return Error{"no name server"}; }

HostPatterns patterns_of(const char* address) { return parse_host_spec(address)->patterns; }

// A list with names that have no address yet.
AccessList waiting_list_of(const Rules& rules) {
  AccessList list(no_answer);
  for (const std::string& rule : rules) EXPECT_EQ(error_of(list.add(rule)), "");
  return list;
}

TEST(AccessList, ANameThatIsNotKnownYetLetsNobodyIn) {
  AccessList list = waiting_list_of({"allow:late", "allow:192.0.2.8"});
  ASSERT_EQ(list.waiting().size(), 1);
  EXPECT_EQ(list.waiting()[0].problem,
            "access rule \"allow:late\": \"late\": no name server; will be tried again, and until "
            "then the rule lets nobody in");
  EXPECT_EQ(list.acquire("192.0.2.7").access, kNo);
  EXPECT_EQ(list.acquire("192.0.2.8").access, kYes);

  EXPECT_EQ(error_of(list.found(0, patterns_of("192.0.2.7"))), "");
  EXPECT_TRUE(list.waiting().empty());
  EXPECT_EQ(list.acquire("192.0.2.7").access, kYes);
}

TEST(AccessList, AHostToKeepOutMayBeAnyHostUntilItsNameIsKnown) {
  for (const char* rule : {"disallow:late", "allow:late:1"}) {
    AccessList list = waiting_list_of({"allow:*", "allow:192.0.2.8", rule});
    ASSERT_EQ(list.waiting().size(), 1);
    EXPECT_NE(list.waiting()[0].problem.find("only rules that name an address"), std::string::npos);
    EXPECT_EQ(list.acquire("192.0.2.7").access, kNo) << rule;
    EXPECT_EQ(list.acquire("192.0.2.8").access, kYes) << "named: " << rule;
    EXPECT_EQ(list.acquire("127.0.0.1").access, kYes) << "of this machine: " << rule;
    EXPECT_EQ(error_of(list.found(2, patterns_of("192.0.2.9"))), "");
    EXPECT_EQ(list.acquire("192.0.2.7").access, kYes) << rule;
  }
}

std::atomic<bool> name_server_is_dead;

Result<HostPatterns> answer_too_late(const std::string&) {
  name_server_is_dead.wait(true);
  return Error{"too late"};
}

TEST(AccessList, ADeadNameServerIsWaitedForOnlyOnce) {
  name_server_is_dead = true;
  AccessList list(answer_too_late, std::chrono::milliseconds(1));
  for (const char* rule : {"allow:one", "allow:two"}) EXPECT_EQ(error_of(list.add(rule)), "");
  name_server_is_dead = false;
  name_server_is_dead.notify_all();
  ASSERT_EQ(list.waiting().size(), 2);
  EXPECT_NE(list.waiting()[0].problem.find("no answer"), std::string::npos);
  EXPECT_NE(list.waiting()[1].problem.find("not looked up yet"), std::string::npos);
}

TEST(AccessList, ContradictingRulesAboutAnUnknownNameAreRefused) {
  AccessList list = waiting_list_of({"allow:late"});
  const std::string error = error_of(list.add("disallow:late"));
  EXPECT_NE(error.find("contradicts \"allow:late\""), error.npos) << error;
}

TEST(AccessList, AContradictionThatComesToLightLateLeavesTheRuleWaiting) {
  AccessList list = waiting_list_of({"allow:192.0.2.7", "disallow:late"});
  const std::string error = error_of(list.found(1, patterns_of("192.0.2.7")));
  EXPECT_NE(error.find("contradicts \"allow:192.0.2.7\""), error.npos) << error;
  EXPECT_EQ(list.waiting().size(), 1);
}

TEST(AccessList, ALimitCountsOpenConnections) {
  AccessList list = list_of({"allow:192.0.2.7:2"});
  const Admission first = list.acquire("192.0.2.7");
  EXPECT_EQ(list.acquire("192.0.2.7").access, kYes);
  EXPECT_EQ(list.acquire("192.0.2.7").access, Access::TooManyConnections);
  list.release(first);
  EXPECT_EQ(list.acquire("192.0.2.7").access, kYes);
  EXPECT_EQ(list.acquire("192.0.2.7").access, Access::TooManyConnections);
}

TEST(AccessList, AWildcardsLimitIsSharedByItsHosts) {
  AccessList list = list_of({"allow:192.0.2.*:2"});
  EXPECT_EQ(list.acquire("192.0.2.1").access, kYes);
  EXPECT_EQ(list.acquire("192.0.2.2").access, kYes);
  EXPECT_EQ(list.acquire("192.0.2.3").access, Access::TooManyConnections);
}

TEST(AccessList, ALocalLimitIsSharedByTheUnixSocketAndTcp) {
  AccessList list = list_of({"allow:local:*:2"});
  EXPECT_EQ(list.acquire("local:").access, kYes);
  EXPECT_EQ(list.acquire("::1").access, kYes);
  EXPECT_EQ(list.acquire("127.0.0.1").access, Access::TooManyConnections);
}

// As in pmcd(1): one host may have 5 connections, and all others together 2.
TEST(AccessList, AConnectionCountsInEveryRuleThatNamesItsPeer) {
  AccessList list = list_of({"allow:192.0.2.7:5", "allow:*:2"});
  EXPECT_EQ(list.acquire("192.0.2.8").access, kYes);
  EXPECT_EQ(list.acquire("192.0.2.7").access, kYes);
  EXPECT_EQ(list.acquire("192.0.2.8").access, Access::TooManyConnections);
}

TEST(AccessList, AnExhaustedWildcardDoesNotLimitWhatIsNamedMoreSpecifically) {
  AccessList list = list_of({"allow:192.0.2.7:5", "allow:*:2"});
  EXPECT_EQ(list.acquire("192.0.2.8").access, kYes);
  EXPECT_EQ(list.acquire("192.0.2.8").access, kYes);
  EXPECT_EQ(list.acquire("192.0.2.8").access, Access::TooManyConnections);
  EXPECT_EQ(list.acquire("192.0.2.7").access, kYes);
}

TEST(AccessList, ARuleWithoutALimitDoesNotLiftAWildcards) {
  AccessList list = list_of({"allow:192.0.2.7:0", "allow:*:1"});
  EXPECT_EQ(list.acquire("192.0.2.7").access, kYes);
  EXPECT_EQ(list.acquire("192.0.2.7").access, Access::TooManyConnections);
}

TEST(AccessList, EquallySpecificLimitsAllHoldWhateverTheirOrder) {
  for (const Rules& rules : {Rules{"allow:localhost:1", "allow:local:*:1"},
                             Rules{"allow:local:*:1", "allow:localhost:1"}}) {
    AccessList list = list_of(rules);
    EXPECT_EQ(list.acquire("local:").access, kYes);
    EXPECT_EQ(list.acquire("127.0.0.1").access, Access::TooManyConnections) << rules[0];
  }
}

TEST(AccessList, ARefusedPeerIsNotCounted) {
  AccessList list = list_of({"disallow:192.0.2.7", "allow:192.0.2.*:1"});
  EXPECT_EQ(list.acquire("192.0.2.7").access, kNo);
  const Admission refused = list.acquire("192.0.2.7");
  list.release(refused);
  EXPECT_EQ(list.acquire("192.0.2.8").access, kYes);
  EXPECT_EQ(list.acquire("192.0.2.8").access, Access::TooManyConnections);
}

struct Malformed {
  std::string rule;
  std::string says;
};

void PrintTo(const Malformed& malformed, std::ostream* out) { *out << malformed.rule; }

class MalformedRule : public testing::TestWithParam<Malformed> {};

TEST_P(MalformedRule, IsNamedInOneLineThatSaysWhatIsValid) {
  const std::string error = error_of(AccessList().add(GetParam().rule));
  EXPECT_NE(error.find("\"" + GetParam().rule + "\""), error.npos) << error;
  EXPECT_NE(error.find(GetParam().says), error.npos) << error;
  EXPECT_EQ(error.find('\n'), error.npos) << error;
}

INSTANTIATE_TEST_SUITE_P(
    Rules, MalformedRule,
    testing::Values(Malformed{"", "expected allow:HOST:MAXCONNS"},
                    Malformed{"permit:127.0.0.1", "expected allow:HOST:MAXCONNS"},
                    Malformed{"127.0.0.1", "expected allow:HOST:MAXCONNS"},
                    Malformed{"disallow:localhost:5", "takes no number of connections"},
                    Malformed{"allow", "expected allow:HOST:MAXCONNS"},
                    Malformed{"allow:", "a host is missing"},
                    Malformed{"disallow:", "a host is missing"},
                    Malformed{"allow::5", "a host is missing"},
                    Malformed{"allow:127.0.0.1:x", "is not a number"},
                    Malformed{"allow:127.0.0.1:-1", "is not a number"},
                    Malformed{"allow:127.0.0.1:5 ", "is not a number"},
                    Malformed{"allow:127.0.0.1:4294967296", "is not a number"},
                    Malformed{"disallow:127.0.0.1:5", "takes no number of connections"},
                    Malformed{"disallow:*.melbourne", "last component"},
                    Malformed{"disallow:129.127.*.*", "last component"},
                    Malformed{"disallow:129.*.114.9", "last component"},
                    Malformed{"disallow:129.127*", "last component"},
                    Malformed{"disallow:129.256.*", "last component"},
                    Malformed{"disallow:1.2.3.4.*", "last component"},
                    Malformed{"disallow:fe80::223:14ff:*:*", "last component"},
                    Malformed{"disallow:fe80::223:14ff:*:b62c", "last component"},
                    Malformed{"disallow:fe80*", "last component"},
                    Malformed{"disallow:1:2:3:4:5:6:7:8:*", "last component"},
                    Malformed{"disallow:fe80::12345:*", "last component"},
                    Malformed{"disallow:129.127", "not a host name"},
                    Malformed{"disallow:1.2.3.256", "not a host name"},
                    Malformed{"disallow:0x7f000001", "not a host name"},
                    Malformed{"disallow:fe80::g", "not a host name"},
                    Malformed{"disallow:two words", "not a host name"},
                    Malformed{"disallow:[127.0.0.1]", "only IPv6 addresses"}));

TEST(AccessList, ContradictingRulesAreRefused) {
  for (const Rules& rules :
       {Rules{"allow:192.0.2.7:0", "disallow:192.0.2.7"},
        Rules{"allow:192.0.2.7:1", "allow:192.0.2.7:2"}, Rules{"disallow:.*", "allow:.*"},
        Rules{"disallow:unix:", "allow:local:*"}, Rules{"allow:fe80::1", "disallow:fe80:0::1"}}) {
    AccessList list = list_of({rules[0]});
    const std::string error = error_of(list.add(rules[1]));
    EXPECT_NE(error.find("contradicts \"" + rules[0] + "\""), error.npos) << error;
  }
}

TEST(AccessList, ARuleMayBeRepeated) {
  AccessList list = list_of({"allow:192.0.2.7:1", "allow:192.0.2.7:1"});
  EXPECT_EQ(list.acquire("192.0.2.7").access, kYes);
  EXPECT_EQ(list.acquire("192.0.2.7").access, Access::TooManyConnections);
}

}  // namespace
}  // namespace pcp::trace::agent
