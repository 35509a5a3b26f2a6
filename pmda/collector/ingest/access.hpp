// SPDX-License-Identifier: LGPL-2.1-or-later
// Who may connect: the rules of -A.
//
//   allow:HOST[:MAXCONNS]    disallow:HOST
//
// HOST is a specification as pmcd's access control has them, see host_spec.hpp. If an IPv6 address
// is followed by a limit, the last component is the limit; brackets make an address unmistakable.
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

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collector/ingest/host_spec.hpp"

namespace pcp::trace::agent {

enum class Access { Allowed, NotPermitted, TooManyConnections };

// A decision. `rules` are those that count the connection; give it back with release().
struct Admission {
  Access access{};
  std::vector<std::size_t> rules;
};

// Thread: filled before the server starts, then the ingest thread's.
class AccessList {
 public:
  // Takes one -A argument.
  Result<void> add(std::string_view rule);

  // Decides about a new connection and, if it is allowed, counts it until release(). The peer is an
  // address as asio's address::to_string gives it, or "local:" for the Unix socket.
  Admission acquire(std::string_view peer);
  void release(const Admission& admission);

 private:
  struct Rule {
    std::string text;  // as given
    bool allow = false;
    std::uint32_t limit = 0;  // 0: none
    std::uint32_t open = 0;   // connections
    HostPatterns patterns;
  };

  Result<void> insert(Rule rule, std::string_view host);

  std::vector<Rule> rules_;
};

}  // namespace pcp::trace::agent
