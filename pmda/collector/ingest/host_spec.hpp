// SPDX-License-Identifier: LGPL-2.1-or-later
// Host specifications of the rules of -A, in the syntax of pmcd's access control:
//
//   name             every address the name has when it is looked up
//   localhost        every address of this machine
//   192.0.2.7        192.0.2.*   192.*      .*   all IPv4
//   fe80::1          2001:db8:*  fe80::*    :*   all IPv6
//   unix:            the Unix socket
//   local:  local:*  the Unix socket and localhost
//   *                everybody
//
// A '*' stands for the rest of an address; after a "::" it stands for the last 16 bits. IPv6
// addresses may be in brackets. IPv4-mapped IPv6 addresses (::ffff:192.0.2.7) are IPv4.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace pcp::trace::agent {

struct Address {
  enum class Family : std::uint8_t { Unix, IPv4, IPv6 };

  Family family{};
  std::array<std::uint8_t, 16> bytes{};  // as many bytes as the family has, in network order
  auto operator<=>(const Address&) const = default;
};

// Parses the text of asio's address::to_string (ignoring a scope, as in fe80::1%eth0), or "local:".
std::optional<Address> parse_address(std::string_view text);

// True if this machine has the address at this moment.
bool is_own_address(const Address& address);

// A set of peers: a specification, or one address of a named host.
struct HostPattern {
  enum class Kind : std::uint8_t { Everybody, Prefix, ThisMachine };

  Kind kind{};
  Address address;        // Prefix
  std::uint8_t bits = 0;  // Prefix: number of leading bits that must match
  auto operator<=>(const HostPattern&) const = default;

  // `own` is the result of is_own_address(peer). ThisMachine matches TCP peers only.
  bool matches(const Address& peer, bool own) const;

  // Greater means more specific: everybody, wildcards by length, this machine, one address.
  unsigned specificity() const;
  static constexpr unsigned kOneAddress = 201;
};
using HostPatterns = std::vector<HostPattern>;

struct HostSpec {
  HostPatterns patterns;
  std::string name;  // if not empty: a host whose addresses must be looked up
};

// The caller puts the specification before an error's message.
Result<HostSpec> parse_host_spec(std::string_view text);

// May take many seconds. A failure may be temporary. Thread: any.
Result<HostPatterns> look_up_host(const std::string& name);

}  // namespace pcp::trace::agent
