// SPDX-License-Identifier: LGPL-2.1-or-later
// The sockets that the agent listens on.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "collector/engine/descriptor.hpp"
#include "collector/ingest/options.hpp"
#include "wire/result.hpp"

namespace pcp::trace::agent {

struct TcpListeners {
  std::vector<Descriptor> sockets;  // IPv4, IPv6, or both
  std::uint16_t port = 0;           // the same for both
};

// Listens for both families, as far as this machine has them; port 0: one that is free in both.
// Requires: not Tcp::None.
Result<TcpListeners> listen_tcp(Tcp addresses, std::uint16_t port);

// Listens on a Unix socket that everybody may connect to. A socket that nobody listens on any more
// is replaced; anything else that is in the way is left alone. Unlinks the socket when it goes, if
// it is still its own.
class UnixListener {
 public:
  UnixListener() = default;
  ~UnixListener() { close(); }
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;

  Result<void> open(const std::string& path);
  void close();

  // Gives the listening socket away; the path remains this object's.
  Descriptor take_socket() { return std::move(socket_); }

 private:
  std::string path_;  // empty: nothing to unlink
  dev_t device_ = 0;
  ino_t inode_ = 0;
  Descriptor socket_;
};

}  // namespace pcp::trace::agent
