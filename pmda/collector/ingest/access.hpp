// SPDX-License-Identifier: LGPL-2.1-or-later
// Who may connect: the rules of -A.
//
//   allow:HOST[:MAXCONNS]    disallow:HOST
//
// HOST is a specification as pmcd's access control has them, see host_spec.hpp. If an IPv6 address
// is followed by a limit, the last component is the limit; brackets make an address unmistakable.
//
// A host's name that has no address yet, as when a machine starts before its network, does not keep
// the agent from starting: its rule waits until somebody has looked the name up. Until then it lets
// nobody in; and if it keeps somebody out, or limits him, he may be anybody: then only this
// machine's own addresses are let in, and those that other rules name one by one.
//
// A peer may connect if the most specific rule that names it allows it, whatever the order of the
// rules. A peer that no rule names may connect if its address is one of this machine's own.
//
// Limits are as pmcd(1) describes them. MAXCONNS 0, or none, is no limit. Of the rules that name a
// peer, the most specific one with a limit decides: it admits the peer as long as fewer connections
// are open that it names. Of several equally specific ones (two names of one host) all have to. An
// open connection counts in every rule that names its peer. So a wildcard's limit is shared by its
// hosts, and a rule without a limit does not lift a wildcard's. All addresses of a named host share
// the limit of their rule.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collector/engine/types.hpp"
#include "collector/ingest/host_spec.hpp"

namespace pcp::trace::agent {

enum class Access { Allowed, NotPermitted, TooManyConnections };

// A decision. `rules` are those that count the connection; give it back with release().
struct Admission {
  Access access{};
  std::vector<std::size_t> rules;
};

// Gives the addresses of a host, as look_up_host.
using LookUp = Result<HostPatterns> (*)(const std::string& name);

// Thread: filled before the server starts, then the ingest thread's.
class AccessList {
 public:
  AccessList() = default;
  // The patience is for all look-ups of add() together: pmcd waits for five seconds.
  explicit AccessList(LookUp function, Time patience = kPatience)
      : look_up_(function), patience_(patience) {}

  // Takes one -A argument.
  Result<void> add(std::string_view rule);

  // Decides about a new connection and, if it is allowed, counts it until release(). The peer is an
  // address as asio's address::to_string gives it, or "local:" for the Unix socket.
  Admission acquire(std::string_view peer);
  void release(const Admission& admission);

  // A rule that waits for its host's addresses.
  struct Waiting {
    std::size_t rule;
    std::string name;
    std::string problem;  // one line: the rule, why it waits, whom it keeps out
  };
  std::vector<Waiting> waiting() const;
  LookUp look_up() const { return look_up_; }

  // A waiting rule's host was looked up. If it fails, as for a contradiction that has come to
  // light, the rule goes on waiting.
  Result<void> found(std::size_t rule, HostPatterns patterns);

 private:
  struct Rule {
    std::string text;  // as given
    bool allow = false;
    std::uint32_t limit = 0;  // 0: none
    std::uint32_t open = 0;   // connections
    HostPatterns patterns;
    std::string name;     // not empty: waits for its addresses
    std::string problem;  // then: why

    bool keeps_some_out() const { return !allow || limit > 0; }
  };

  Result<void> insert(Rule rule, std::string_view host);
  Result<HostPatterns> look_up_soon(const std::string& name);
  Result<void> check(const Rule& rule, const HostPatterns& patterns) const;
  bool waits_for_somebody_to_keep_out() const;

  static constexpr Time kPatience = std::chrono::seconds(2);

  LookUp look_up_ = look_up_host;
  Time patience_ = kPatience;
  std::vector<Rule> rules_;
};

}  // namespace pcp::trace::agent
