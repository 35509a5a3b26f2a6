// SPDX-License-Identifier: LGPL-2.1-or-later
// Host specifications, as pmcd's access control has them: which peers a rule of -A is about.
//
//   name             every address the name has when it is looked up
//   localhost        every address of this machine
//   192.0.2.7        192.0.2.*   192.*      .*   all IPv4
//   fe80::1          2001:db8:*  fe80::*    :*   all IPv6
//   unix:            the Unix socket
//   local:  local:*  the Unix socket and localhost
//   *                everybody
//
// A '*' stands for the rest of an address, except that behind a "::" it stands for the last 16
// bits. IPv6 addresses may be put in brackets. IPv4 addresses in IPv6's clothes (::ffff:192.0.2.7)
// are IPv4.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/result.hpp"

namespace pcp::trace::agent {

struct Address {
  enum class Family : std::uint8_t { Unix, IPv4, IPv6 };

  Family family{};
  std::array<std::uint8_t, 16> bytes{};  // as many as the family has, in network order
  auto operator<=>(const Address&) const = default;
};

// Takes what asio's address::to_string gives (a scope, as in fe80::1%eth0, is left out) and
// "local:".
std::optional<Address> parse_address(std::string_view text);

// Tells whether the address is one of this machine's own at this moment.
bool is_own_address(const Address& address);

// A set of peers that one specification, or one address of a named host, stands for.
struct HostPattern {
  enum class Kind : std::uint8_t { Everybody, Prefix, ThisMachine };

  Kind kind{};
  Address address;        // Prefix
  std::uint8_t bits = 0;  // Prefix: how many of the address's leading bits count
  auto operator<=>(const HostPattern&) const = default;

  // `own` is what is_own_address(peer) says; ThisMachine is for TCP only.
  bool matches(const Address& peer, bool own) const;

  // The greater, the more specific: everybody, wildcards by their length, this machine, one
  // address.
  unsigned specificity() const;
  static constexpr unsigned kOneAddress = 201;
};
using HostPatterns = std::vector<HostPattern>;

struct HostSpec {
  HostPatterns patterns;
  std::string name;  // if not empty: of a host, whose addresses are still to be looked up
};

// An error's message is to stand behind the specification.
Result<HostSpec> parse_host_spec(std::string_view text);

// May take many seconds. Fails also for a name that will be known in a minute. Thread: any.
Result<HostPatterns> look_up_host(const std::string& name);

}  // namespace pcp::trace::agent
