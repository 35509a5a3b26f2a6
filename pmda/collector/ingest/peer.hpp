// SPDX-License-Identifier: LGPL-2.1-or-later
// The peer of a connection, according to the kernel.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string>

#include "collector/ingest_counters.hpp"

namespace pcp::trace::agent {

struct Peer {
  std::uint64_t number = 0;         // the connection's, never reused
  std::string address;              // "local:" for the Unix socket
  std::uint16_t port = 0;           // TCP
  std::uint32_t uid = kUnknownUid;  // Unix socket
  std::uint32_t gid = kUnknownUid;  // Unix socket
  std::uint32_t pid = 0;            // Unix socket

  // The user whose limits count its sessions and connections: a uid, an IPv4 address, or an IPv6
  // network of 64 bits, since a host can use all addresses of its network. All loopback addresses
  // are one user: anybody on this host can use all sixteen million of them.
  std::string owner() const {
    if (uid != kUnknownUid) return "uid " + std::to_string(uid);
    if (address == "::1" || address.starts_with("127.")) return "loopback";
    in6_addr in6{};
    if (::inet_pton(AF_INET6, address.c_str(), &in6) != 1) return address;
    std::fill(std::begin(in6.s6_addr) + 8, std::end(in6.s6_addr), std::uint8_t{0});
    std::array<char, INET6_ADDRSTRLEN> network{};
    return ::inet_ntop(AF_INET6, &in6, network.data(), network.size()) + std::string("/64");
  }

  bool is_elsewhere() const {
    return uid == kUnknownUid && address != "::1" && !address.starts_with("127.");
  }

  std::string describe() const {
    return uid == kUnknownUid ? address + " port " + std::to_string(port)
                              : "pid " + std::to_string(pid) + " of uid " + std::to_string(uid) +
                                    ", gid " + std::to_string(gid);
  }
};

}  // namespace pcp::trace::agent
