// SPDX-License-Identifier: LGPL-2.1-or-later
// The peer of a connection, according to the kernel.
#pragma once

#include <cstdint>
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

  // The user whose limits count its sessions and connections: a uid, or an address. All loopback
  // addresses are one user: anybody on this host can use all sixteen million of them.
  std::string owner() const {
    if (uid != kUnknownUid) return "uid " + std::to_string(uid);
    return address == "::1" || address.starts_with("127.") ? "loopback" : address;
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
