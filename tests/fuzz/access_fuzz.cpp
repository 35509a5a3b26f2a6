// SPDX-License-Identifier: LGPL-2.1-or-later
// Rules of -A and the decisions about peers. The input is rules, one in a line, then an empty line
// and peers. A refused rule changes nothing, the order of the other rules does not matter, limits
// hold, and a closed connection leaves nothing behind.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "collector/ingest/access.hpp"
#include "fuzz/input.hpp"

using namespace pcp::trace;
using fuzz::Input;
using fuzz::require;

namespace {

using namespace pcp::trace::agent;

using Lines = std::vector<std::string>;

// Up to an empty line.
Lines take_lines(Input& input) {
  constexpr std::size_t kMost = 12;
  Lines lines;
  while (!input.empty() && lines.size() < kMost) {
    const std::string line = input.c_line();
    if (line.empty()) break;
    lines.push_back(line);
  }
  return lines;
}

// The decisions for these peers, if they connect in turn and stay.
std::vector<Access> decide(AccessList list, const Lines& peers) {
  std::vector<Access> decisions;
  for (const std::string& peer : peers) decisions.push_back(list.acquire(peer).access);
  return decisions;
}

// A resolver without answers: rules with names stay unresolved.
pcp::trace::Result<HostPatterns> no_answer(const std::string&) {
  return pcp::trace::Error{"no answer"};
}

AccessList list_of(const Lines& rules) {
  AccessList list(no_answer);
  for (const std::string& rule : rules) require(bool(list.add(rule)));
  return list;
}

void check_complaint(const std::string& complaint, const std::string& rule) {
  require(complaint.find('"' + rule + '"') != complaint.npos);
  require(complaint.find('\n') == complaint.npos);
}

void check_release(AccessList list, const Lines& peers, const std::vector<Access>& expected) {
  std::vector<Admission> admissions;
  for (const std::string& peer : peers) admissions.push_back(list.acquire(peer));
  for (const Admission& each : admissions) list.release(each);
  require(decide(list, peers) == expected);
}

// A single rule admits all peers, none, or as many as the limit at its end.
void check_limit(const std::string& rule, const std::string& peer) {
  constexpr std::ptrdiff_t kTries = 5;
  const auto decisions = decide(list_of({rule}), Lines(kTries, peer));
  const auto admitted = std::count(decisions.begin(), decisions.end(), Access::Allowed);
  if (admitted == 0 || admitted == kTries) return;
  const std::string limit = rule.substr(rule.rfind(':') + 1);
  require(std::strtol(limit.c_str(), nullptr, 10) == admitted);
  require(std::is_sorted(decisions.begin(), decisions.end()));
}

// A rule for one address holds for each form of it, and is the most specific rule.
void check_address(const std::string& address) {
  if (address == "local:" || !parse_address(address) || address.find('%') != address.npos) return;
  Lines rules{"allow:*", "allow:.*", "allow::*", "allow:localhost", "disallow:" + address};
  require(decide(list_of(rules), {address}).front() == Access::NotPermitted);
  if (address.find(':') == address.npos) return;
  rules.back() = "disallow:[" + address + ']';
  require(decide(list_of(rules), {address}).front() == Access::NotPermitted);
}

}  // namespace

void fuzz::run(Input input) {
  AccessList list(no_answer);
  Lines rules;
  for (const std::string& rule : take_lines(input)) {
    const auto added = list.add(rule);
    if (added)
      rules.push_back(rule);
    else
      check_complaint(added.error().message, rule);
  }
  Lines peers = take_lines(input);
  for (const std::string& peer : peers) check_address(peer);
  for (const char* peer : {"local:", "127.0.0.1", "::1", "192.0.2.1", "192.0.2.200", "2001:db8::2",
                           "fe80::1", "192.0.2.1", "local:", "8.8.8.8", "nonsense"})
    peers.push_back(peer);

  const std::vector<Access> decisions = decide(list, peers);
  require(decide(list_of(rules), peers) == decisions);
  require(decide(list_of({rules.rbegin(), rules.rend()}), peers) == decisions);
  check_release(list, peers, decisions);
  for (const std::string& rule : rules)
    for (const std::string& peer : peers) check_limit(rule, peer);
}
