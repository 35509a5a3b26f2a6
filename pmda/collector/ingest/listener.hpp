// SPDX-License-Identifier: LGPL-2.1-or-later
// The sockets that the agent listens on.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "base/result.hpp"
#include "collector/ingest/ingest_options.hpp"

namespace pcp::trace::agent {

struct TcpListeners {
  std::vector<Descriptor> sockets;  // for IPv4, IPv6, or both
  std::uint16_t port = 0;           // the same for both
};

// Listens for each family that this machine has. Port 0: any port that is free for both. Requires:
// not Tcp::None.
Result<TcpListeners> listen_tcp(Tcp addresses, std::uint16_t port);

// Listens on a Unix socket that everybody may connect to. A socket without a listener is replaced;
// anything else at the path stays, and is an error. The destructor unlinks the path if the socket
// there is still this one.
class UnixListener {
 public:
  UnixListener() = default;
  ~UnixListener() { close(); }
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;

  Result<void> open(const std::string& path);
  void close();

  // Gives the listening socket away. This object still unlinks the path.
  Descriptor take_socket() { return std::move(socket_); }

 private:
  std::string path_;  // empty: nothing to unlink
  dev_t device_ = 0;
  ino_t inode_ = 0;
  Descriptor socket_;
};

}  // namespace pcp::trace::agent
