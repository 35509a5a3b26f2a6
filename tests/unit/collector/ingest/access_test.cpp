// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/access.hpp"

#include <ifaddrs.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/error_of.hpp"

namespace pcp::trace::agent {
namespace {

using Rules = std::vector<std::string>;

AccessList list_of(const Rules& rules, AccessList list = AccessList()) {
  for (const std::string& rule : rules) EXPECT_EQ(error_of(list.add(rule)), "");
  return list;
}

std::string text_of(const sockaddr* address, socklen_t length) {
  char text[NI_MAXHOST];
  const int error = getnameinfo(address, length, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  return error == 0 ? text : "127.0.0.1";
}

// An address of this machine other than loopback, if it has one.
std::string own_address() {
  ifaddrs* found = nullptr;
  if (getifaddrs(&found) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> list(found, freeifaddrs);
  for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != AF_INET) continue;
    const std::string text = text_of(entry->ifa_addr, sizeof(sockaddr_in));
    if (!text.starts_with("127.")) return text;
  }
  return {};
}

constexpr Access kYes = Access::Allowed;
constexpr Access kNo = Access::NotPermitted;
constexpr Access kTooMany = Access::TooManyConnections;

struct Decision {
  Rules rules;
  std::vector<std::string> allowed;
  std::vector<std::string> refused;
};

void expect(const std::vector<Decision>& decisions) {
  for (const Decision& each : decisions) {
    SCOPED_TRACE(testing::PrintToString(each.rules));
    for (const std::string& peer : each.allowed)
      EXPECT_EQ(list_of(each.rules).acquire(peer).access, kYes) << peer;
    for (const std::string& peer : each.refused)
      EXPECT_EQ(list_of(each.rules).acquire(peer).access, kNo) << peer;
  }
}

TEST(AccessDecision, WithoutARuleForThePeerLetsThisMachineIn) {
  expect({{{},
           {"127.0.0.1", "127.9.8.7", "::1", "local:", "::ffff:127.0.0.1"},
           {"192.0.2.77", "2001:db8::1", "nonsense"}},
          {{"disallow:192.0.2.77"}, {"127.0.0.1"}, {"192.0.2.78"}}});
}

TEST(AccessDecision, AnAddressIsComparedHoweverItIsWritten) {
  expect({{{"allow:192.0.2.77:0"}, {"192.0.2.77", "::ffff:192.0.2.77"}, {"192.0.2.7"}},
          {{"allow:192.0.2.77"}, {"192.0.2.77"}, {}},
          {{"ALLOW:192.0.2.77:0"}, {"192.0.2.77"}, {}},
          {{"allow:::ffff:192.0.2.77"}, {"192.0.2.77"}, {}},
          {{"disallow:127.0.0.1"}, {"::1"}, {"127.0.0.1"}},
          {{"disallow:::1"}, {}, {"::1"}},
          {{"disallow:[::1]"}, {}, {"::1"}},
          {{"allow:2001:db8::1:7"}, {"2001:db8::1"}, {"2001:db8::1:7"}},
          {{"allow:*", "disallow:2001:db8::1:7"}, {"2001:db8::1"}, {"2001:db8::1:7"}},
          {{"allow:[2001:db8::1:7]"}, {"2001:db8::1:7"}, {}},
          {{"allow:1:2:3:4:5:6:7:8"}, {"1:2:3:4:5:6:7:8"}, {}},
          {{"allow:1:2:3:4:5:6:7:8:9"}, {"1:2:3:4:5:6:7:8"}, {}},
          {{"allow:fe80::1"}, {"fe80::1%eth0"}, {}}});
}

TEST(AccessDecision, AWildcardStandsForTheLastComponents) {
  expect({{{"allow:192.0.2.*:0"}, {"192.0.2.200"}, {"192.0.3.200"}},
          {{"allow:192.0.*"}, {"192.0.3.200"}, {}},
          {{"allow:192.*:5"}, {"192.200.3.200"}, {"193.200.3.200"}},
          {{"allow:.*:0"}, {"8.8.8.8"}, {"2001:db8::1"}},
          {{"disallow:.*"}, {"local:"}, {"127.0.0.1"}},
          {{"allow::*:0"}, {"2001:db8::1"}, {}},
          {{"allow::*"}, {}, {"8.8.8.8"}},
          {{"allow:2001:db8:*"}, {"2001:db8:1:2:3:4:5:6"}, {"2001:db9::1"}},
          {{"allow:1:2:3:4:5:6:7:*"}, {"1:2:3:4:5:6:7:88"}, {}},
          {{"allow:fe80::*"}, {"fe80::7"}, {"fe80::1:7"}},
          {{"allow:fe80::*:3"}, {"fe80::7"}, {}},
          {{"allow:*:0"}, {"8.8.8.8"}, {}},
          {{"allow:*"}, {"2001:db8::1"}, {}},
          {{"disallow:*"}, {}, {"127.0.0.1", "local:"}}});
}

TEST(AccessDecision, TheUnixSocketAndThisMachineHaveNames) {
  expect({{{"disallow:unix:"}, {"127.0.0.1"}, {"local:"}},
          {{"disallow:local:*"}, {}, {"local:", "127.0.0.1", "::1"}},
          {{"disallow:local:"}, {}, {"local:"}},
          {{"disallow:localhost"}, {"local:"}, {"127.0.0.1"}},
          {{"disallow:LocalHost"}, {}, {"::1"}},
          {{"disallow:*", "allow:local:*:4"}, {"local:", "127.0.0.1"}, {}},
          {{"disallow:*", "allow:unix::4"}, {"local:"}, {}},
          {{"disallow:*", "allow:unix:"}, {}, {"127.0.0.1"}}});
}

TEST(AccessDecision, TheMoreSpecificRuleWins) {
  expect({{{"disallow:192.0.2.*", "allow:192.0.2.7:0"}, {"192.0.2.7"}, {}},
          {{"allow:192.0.2.7:0", "disallow:192.0.2.*"}, {"192.0.2.7"}, {"192.0.2.8"}},
          {{"allow:192.*", "disallow:192.0.*"}, {}, {"192.0.2.8"}},
          {{"disallow:192.0.*", "allow:192.*"}, {"192.1.2.8"}, {"192.0.2.8"}},
          {{"allow:*", "disallow:.*"}, {}, {"192.0.2.8"}},
          {{"allow:*", "disallow::*"}, {}, {"fe80::1"}},
          {{"disallow:127.*", "allow:localhost"}, {"127.0.0.1"}, {}},
          {{"disallow:localhost", "allow:127.0.0.1"}, {"127.0.0.1"}, {"127.0.0.2"}}});
}

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
    const std::string text = text_of(entry->ai_addr, entry->ai_addrlen);
    EXPECT_EQ(list.acquire(text).access, kNo) << text;
  }
}

Result<HostPatterns> no_answer(const std::string&) { return Error{"no name server"}; }

HostPatterns patterns_of(const char* address) { return parse_host_spec(address)->patterns; }

// A list with names that have no address yet.
AccessList waiting_list_of(const Rules& rules) { return list_of(rules, AccessList(no_answer)); }

void expect_contradiction(const Result<void>& result, const std::string& rule) {
  const std::string error = error_of(result);
  EXPECT_NE(error.find("contradicts \"" + rule + "\""), error.npos) << error;
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
  const AccessList list = list_of({"allow:one", "allow:two"},
                                  AccessList(answer_too_late, std::chrono::milliseconds(1)));
  name_server_is_dead = false;
  name_server_is_dead.notify_all();
  ASSERT_EQ(list.waiting().size(), 2);
  EXPECT_NE(list.waiting()[0].problem.find("no answer"), std::string::npos);
  EXPECT_NE(list.waiting()[1].problem.find("not looked up yet"), std::string::npos);
}

TEST(AccessList, ContradictingRulesAreRefused) {
  AccessList waiting = waiting_list_of({"allow:late"});
  expect_contradiction(waiting.add("disallow:late"), "allow:late");
  for (const Rules& rules :
       {Rules{"allow:192.0.2.7:0", "disallow:192.0.2.7"},
        Rules{"allow:192.0.2.7:1", "allow:192.0.2.7:2"}, Rules{"disallow:.*", "allow:.*"},
        Rules{"disallow:unix:", "allow:local:*"}, Rules{"allow:fe80::1", "disallow:fe80:0::1"}}) {
    AccessList list = list_of({rules[0]});
    expect_contradiction(list.add(rules[1]), rules[0]);
  }
}

TEST(AccessList, AContradictionThatComesToLightLateLeavesTheRuleWaiting) {
  AccessList list = waiting_list_of({"allow:192.0.2.7", "disallow:late"});
  expect_contradiction(list.found(1, patterns_of("192.0.2.7")), "allow:192.0.2.7");
  EXPECT_EQ(list.waiting().size(), 1);
}

TEST(AccessList, ALimitCountsOpenConnections) {
  AccessList list = list_of({"allow:192.0.2.7:2"});
  const Admission first = list.acquire("192.0.2.7");
  EXPECT_EQ(list.acquire("192.0.2.7").access, kYes);
  EXPECT_EQ(list.acquire("192.0.2.7").access, kTooMany);
  list.release(first);
  EXPECT_EQ(list.acquire("192.0.2.7").access, kYes);
  EXPECT_EQ(list.acquire("192.0.2.7").access, kTooMany);
}

// As in pmcd(1): of "allow:192.0.2.7:5" and "allow:*:2", the one host may have 5 connections, and
// all others together 2.
TEST(AccessList, AConnectionCountsInEveryRuleThatNamesItsPeer) {
  const struct {
    const char* what;
    Rules rules;
    std::vector<std::string> allowed;  // in this order, as the next ones
    std::vector<std::string> too_many;
    std::vector<std::string> allowed_still = {};
  } cases[] = {
      {"a wildcard's hosts share its limit",
       {"allow:192.0.2.*:2"},
       {"192.0.2.1", "192.0.2.2"},
       {"192.0.2.3"}},
      {"the Unix socket and TCP share a local limit",
       {"allow:local:*:2"},
       {"local:", "::1"},
       {"127.0.0.1"}},
      {"the named host counts among all",
       {"allow:192.0.2.7:5", "allow:*:2"},
       {"192.0.2.8", "192.0.2.7"},
       {"192.0.2.8"}},
      {"an exhausted wildcard does not limit what is named more specifically",
       {"allow:192.0.2.7:5", "allow:*:2"},
       {"192.0.2.8", "192.0.2.8"},
       {"192.0.2.8"},
       {"192.0.2.7"}},
      {"an exhausted wildcard does not, also if its rule comes first",
       {"allow:*:2", "allow:192.0.2.7:5"},
       {"192.0.2.8", "192.0.2.8"},
       {"192.0.2.8"},
       {"192.0.2.7"}},
      {"a rule without a limit does not lift a wildcard's",
       {"allow:192.0.2.7:0", "allow:*:1"},
       {"192.0.2.7"},
       {"192.0.2.7"}},
      {"equally specific limits all hold",
       {"allow:localhost:1", "allow:local:*:1"},
       {"local:"},
       {"127.0.0.1"}},
      {"equally specific limits all hold, whatever their order",
       {"allow:local:*:1", "allow:localhost:1"},
       {"local:"},
       {"127.0.0.1"}},
      {"a rule may be repeated",
       {"allow:192.0.2.7:1", "allow:192.0.2.7:1"},
       {"192.0.2.7"},
       {"192.0.2.7"}},
  };
  for (const auto& each : cases) {
    SCOPED_TRACE(each.what);
    AccessList list = list_of(each.rules);
    for (const auto& peer : each.allowed) EXPECT_EQ(list.acquire(peer).access, kYes) << peer;
    for (const auto& peer : each.too_many) EXPECT_EQ(list.acquire(peer).access, kTooMany) << peer;
    for (const auto& peer : each.allowed_still) EXPECT_EQ(list.acquire(peer).access, kYes) << peer;
  }
}

TEST(AccessList, ARefusedPeerIsNotCounted) {
  AccessList list = list_of({"disallow:192.0.2.7", "allow:192.0.2.*:1"});
  EXPECT_EQ(list.acquire("192.0.2.7").access, kNo);
  const Admission refused = list.acquire("192.0.2.7");
  list.release(refused);
  EXPECT_EQ(list.acquire("192.0.2.8").access, kYes);
  EXPECT_EQ(list.acquire("192.0.2.8").access, kTooMany);
}

TEST(AccessList, AMalformedRuleIsNamedInOneLineThatSaysWhatIsValid) {
  const struct {
    const char* says;
    Rules rules;
  } cases[] = {
      {"expected allow:HOST:MAXCONNS", {"", "permit:127.0.0.1", "127.0.0.1", "allow"}},
      {"takes no number of connections", {"disallow:localhost:5", "disallow:127.0.0.1:5"}},
      {"a host is missing", {"allow:", "disallow:", "allow::5"}},
      {"is not a number",
       {"allow:127.0.0.1:x", "allow:127.0.0.1:-1", "allow:127.0.0.1:5 ",
        "allow:127.0.0.1:4294967296"}},
      {"last component",
       {"disallow:*.melbourne", "disallow:129.127.*.*", "disallow:129.*.114.9", "disallow:129.127*",
        "disallow:129.256.*", "disallow:1.2.3.4.*", "disallow:fe80::223:14ff:*:*",
        "disallow:fe80::223:14ff:*:b62c", "disallow:fe80*", "disallow:1:2:3:4:5:6:7:8:*",
        "disallow:fe80::12345:*"}},
      {"not a host name",
       {"disallow:129.127", "disallow:1.2.3.256", "disallow:0x7f000001", "disallow:fe80::g",
        "disallow:two words"}},
      {"only IPv6 addresses", {"disallow:[127.0.0.1]"}},
  };
  for (const auto& [says, rules] : cases) {
    for (const std::string& rule : rules) {
      const std::string error = error_of(AccessList().add(rule));
      EXPECT_NE(error.find("\"" + rule + "\""), error.npos) << error;
      EXPECT_NE(error.find(says), error.npos) << error;
      EXPECT_EQ(error.find('\n'), error.npos) << error;
    }
  }
}

}  // namespace
}  // namespace pcp::trace::agent
