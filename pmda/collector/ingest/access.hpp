// SPDX-License-Identifier: LGPL-2.1-or-later
// Decides which peers may connect, by the rules of -A.
//
//   allow:HOST[:MAXCONNS]    disallow:HOST
//
// HOST is a specification in the syntax of pmcd's access control, see host_spec.hpp. If a limit
// follows an IPv6 address, the last component is the limit; brackets make an address unambiguous.
//
// A host name without an address, as when a machine starts before its network, does not stop the
// agent's start: its rule waits until the name is found. A waiting rule lets nobody in. A waiting
// rule that excludes or limits a host could concern any peer. So meanwhile only this machine's own
// addresses are let in, and addresses that other rules name one by one.
//
// A peer may connect if the most specific rule that names it allows it, whatever the order of the
// rules. A peer that no rule names may connect if its address is one of this machine's own.
//
// Limits work as pmcd(1) describes. MAXCONNS 0, or none, is no limit. The most specific matching
// rule with a limit admits the peer while the rule's open connections are below the limit. If
// several rules are equally specific (two names of one host), all must admit the peer. An open
// connection counts in every rule that matches its peer. So the hosts of a wildcard share its
// limit, and a rule without a limit does not lift a wildcard's limit. All addresses of a named host
// share their rule's limit.
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

// A decision. `rules` are the rules that count the connection; end it with release().
struct Admission {
  Access access{};
  std::vector<std::size_t> rules;
};

// Looks up the addresses of a host, like look_up_host().
using LookUp = Result<HostPatterns> (*)(const std::string& name);

// Thread: filled before the server starts, then only the ingest thread's.
class AccessList {
 public:
  AccessList() = default;
  // The patience is a limit for all look-ups of add() together: pmcd waits for five seconds.
  explicit AccessList(LookUp function, Duration patience = kPatience)
      : look_up_(function), patience_(patience) {}

  // Takes one -A argument.
  Result<void> add(std::string_view rule);

  // Decides about a new connection and, if it is allowed, counts it until release(). `peer` is an
  // address from asio's address::to_string, or "local:" for the Unix socket.
  Admission acquire(std::string_view peer);
  void release(const Admission& admission);

  // A rule that waits for its host's addresses to be found.
  struct Waiting {
    std::size_t rule;
    std::string name;
    std::string problem;  // one line: the rule, why it waits, which peers are refused
  };
  std::vector<Waiting> waiting() const;
  LookUp look_up() const { return look_up_; }

  // Reports the found addresses of a waiting rule's host. On failure, for example if the addresses
  // show a contradiction, the rule continues to wait.
  Result<void> found(std::size_t rule, HostPatterns patterns);

 private:
  struct Rule {
    std::string text;  // as given
    bool allow = false;
    std::uint32_t limit = 0;  // 0: none
    std::uint32_t open = 0;   // connections
    HostPatterns patterns;
    std::string name;     // not empty: the rule waits for this host's addresses
    std::string problem;  // why the rule waits

    bool is_restrictive() const { return !allow || limit > 0; }
  };

  Result<void> insert(Rule rule, std::string_view host);
  Result<HostPatterns> look_up_soon(const std::string& name);
  Result<void> check(const Rule& rule, const HostPatterns& patterns) const;
  bool has_waiting_restriction() const;

  static constexpr Duration kPatience = std::chrono::seconds(2);

  LookUp look_up_ = look_up_host;
  Duration patience_ = kPatience;
  std::vector<Rule> rules_;
};

}  // namespace pcp::trace::agent
