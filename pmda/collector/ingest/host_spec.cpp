// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/host_spec.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <strings.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace pcp::trace::agent {

namespace {

using Family = Address::Family;
using Kind = HostPattern::Kind;

constexpr std::uint8_t address_bits(Family family) {
  return family == Family::IPv4 ? 32 : family == Family::IPv6 ? 128 : 0;
}

Address ipv4(const void* bytes) {
  Address address{Family::IPv4, {}};
  std::memcpy(address.bytes.data(), bytes, 4);
  return address;
}

Address ipv6(const void* bytes) {
  in6_addr number;
  std::memcpy(&number, bytes, sizeof number);
  if (IN6_IS_ADDR_V4MAPPED(&number)) return ipv4(number.s6_addr + 12);
  Address address{Family::IPv6, {}};
  std::memcpy(address.bytes.data(), bytes, 16);
  return address;
}

std::optional<Address> address_of(const sockaddr* socket_address) {
  if (socket_address == nullptr) return {};
  if (socket_address->sa_family == AF_INET) {
    sockaddr_in in;
    std::memcpy(&in, socket_address, sizeof in);
    return ipv4(&in.sin_addr);
  }
  if (socket_address->sa_family == AF_INET6) {
    sockaddr_in6 in6;
    std::memcpy(&in6, socket_address, sizeof in6);
    return ipv6(&in6.sin6_addr);
  }
  return {};
}

bool is_loopback(const Address& address) {
  if (address.family == Family::IPv4) return address.bytes[0] == 127;
  return std::memcmp(address.bytes.data(), &in6addr_loopback, sizeof in6addr_loopback) == 0;
}

HostPattern one(const Address& address) {
  return {Kind::Prefix, address, address_bits(address.family)};
}

HostPattern wildcard(const Address& address, std::size_t bits) {
  return {Kind::Prefix, address, static_cast<std::uint8_t>(bits)};
}

// `head` is the text before the '*': one to three numbers, each with a dot after it.
std::optional<HostPattern> ipv4_wildcard(std::string_view head) {
  const auto given = static_cast<std::size_t>(std::count(head.begin(), head.end(), '.'));
  if (given < 1 || given > 3 || head.back() != '.') return {};
  std::string full(head);
  for (std::size_t i = given; i < 4; ++i) full += i == 3 ? "0" : "0.";
  const auto address = parse_address(full);
  if (!address) return {};
  return wildcard(*address, given * 8);
}

// `head` is the text before the '*', including the last colon.
std::optional<HostPattern> ipv6_wildcard(std::string_view head) {
  if (head.empty() || head.back() != ':' || head.find('.') != head.npos) return {};
  const bool compressed = head.find("::") != head.npos;
  const auto given = static_cast<std::size_t>(std::count(head.begin(), head.end(), ':'));
  if (!compressed && given > 7) return {};
  const auto address = parse_address(std::string(head) + (compressed ? "0" : ":"));
  if (!address || address->family != Family::IPv6) return {};
  return wildcard(*address, compressed ? 112 : given * 16);
}

Result<HostSpec> parse_wildcard(std::string_view text) {
  if (text == "*") return HostSpec{{{Kind::Everybody, {}, 0}}, {}};
  if (text == ".*") return HostSpec{{wildcard({Family::IPv4, {}}, 0)}, {}};
  if (text == ":*") return HostSpec{{wildcard({Family::IPv6, {}}, 0)}, {}};

  const std::string_view head = text.substr(0, text.size() - 1);
  if (text.back() == '*' && head.find('*') == head.npos) {
    const auto pattern = head.find(':') == head.npos ? ipv4_wildcard(head) : ipv6_wildcard(head);
    if (pattern) return HostSpec{{*pattern}, {}};
  }
  return Error{
      "in a wildcard '*' is the last component of an IPv4 or IPv6 address, as in 192.0.2.*, "
      "2001:db8:*, .* (all IPv4), :* (all IPv6) or *"};
}

bool may_be_name(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '.';
  });
}

// True for a text meant as a number that is no address: 10.1, 0x7f.1 or 1.2.3.256.
bool is_odd_number(const std::string& text) {
  in_addr number;
  return inet_aton(text.c_str(), &number) != 0 ||
         text.find_first_not_of("0123456789.") == text.npos;
}

Result<HostSpec> parse_name(std::string_view text) {
  std::string name(text);
  if (!may_be_name(name) || is_odd_number(name))
    return Error{
        "not a host name, an IPv4 or IPv6 address, a wildcard like 192.0.2.*, local:*, unix: or *"};
  return HostSpec{{}, std::move(name)};
}

bool is_localhost(std::string_view text) {
  return text.size() == 9 && strncasecmp(text.data(), "localhost", 9) == 0;
}

}  // namespace

std::optional<Address> parse_address(std::string_view text) {
  if (text == "local:") return Address{Family::Unix, {}};
  const std::string plain(text.substr(0, text.find('%')));
  std::array<std::uint8_t, 16> bytes;
  if (inet_pton(AF_INET, plain.c_str(), bytes.data()) == 1) return ipv4(bytes.data());
  if (inet_pton(AF_INET6, plain.c_str(), bytes.data()) == 1) return ipv6(bytes.data());
  return {};
}

bool is_own_address(const Address& address) {
  if (address.family == Family::Unix || is_loopback(address)) return true;
  ifaddrs* found = nullptr;
  if (getifaddrs(&found) != 0) return false;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> list(found, freeifaddrs);
  for (const ifaddrs* entry = list.get(); entry != nullptr; entry = entry->ifa_next)
    if (address_of(entry->ifa_addr) == address) return true;
  return false;
}

bool HostPattern::matches(const Address& peer, bool own) const {
  if (kind == Kind::Everybody) return true;
  if (kind == Kind::ThisMachine) return own && peer.family != Family::Unix;
  if (peer.family != address.family) return false;
  for (unsigned bit = 0; bit < bits; bit += 8) {
    const unsigned rest = bits - bit;
    const unsigned mask = rest >= 8 ? 0xff : 0xff & (0xff00 >> rest);
    if (((peer.bytes[bit / 8] ^ address.bytes[bit / 8]) & mask) != 0) return false;
  }
  return true;
}

unsigned HostPattern::specificity() const {
  if (kind == Kind::Everybody) return 0;
  if (kind == Kind::ThisMachine) return kOneAddress - 1;
  return bits == address_bits(address.family) ? kOneAddress : 1u + bits;
}

Result<HostSpec> parse_host_spec(std::string_view text) {
  if (text.empty()) return Error{"a host is missing"};
  if (text == "unix:") return HostSpec{{one({Family::Unix, {}})}, {}};
  if (is_localhost(text)) return HostSpec{{{Kind::ThisMachine, {}, 0}}, {}};
  if (text == "local:" || text == "local:*")
    return HostSpec{{one({Family::Unix, {}}), {Kind::ThisMachine, {}, 0}}, {}};
  if (text.front() == '[' && text.back() == ']') {
    text = text.substr(1, text.size() - 2);
    if (text.find(':') == text.npos) return Error{"only IPv6 addresses may be in brackets"};
  }
  if (text.find('*') != text.npos) return parse_wildcard(text);
  if (text.find('%') == text.npos)
    if (const auto address = parse_address(text)) return HostSpec{{one(*address)}, {}};
  return parse_name(text);
}

Result<HostPatterns> look_up_host(const std::string& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failure = getaddrinfo(name.c_str(), nullptr, &hints, &found);
  if (failure != 0) return Error{std::string("cannot look up this host: ") + gai_strerror(failure)};
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list(found, freeaddrinfo);

  HostPatterns patterns;
  for (const addrinfo* entry = list.get(); entry != nullptr; entry = entry->ai_next) {
    const auto address = address_of(entry->ai_addr);
    if (!address) continue;
    const HostPattern pattern = one(*address);
    if (std::find(patterns.begin(), patterns.end(), pattern) == patterns.end())
      patterns.push_back(pattern);
  }
  if (patterns.empty()) return Error{"this host has no IPv4 or IPv6 address"};
  return patterns;
}

}  // namespace pcp::trace::agent
