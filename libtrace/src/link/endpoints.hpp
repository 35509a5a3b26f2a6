// SPDX-License-Identifier: LGPL-2.1-or-later
// The agent's possible addresses, in order.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "link/client_options.hpp"

namespace pcp::trace::client {

struct Endpoint {
  sockaddr_storage address{};
  socklen_t length = 0;
  int family() const { return address.ss_family; }
  std::string name() const;  // for diagnostics
};

// All endpoints, or only the Unix socket.
enum class Reach { All, Local };

// May look names up, which takes time. Empty if the host is unknown, or the socket does not exist.
// Thread: the flusher's.
std::vector<Endpoint> find_endpoints(const ClientOptions& options, Reach reach);

// True if the peer of a connected Unix socket is root, PCP's user or our own. Any other user may
// have made a socket in the agent's place, and an agent may ask for all data of the program.
bool has_trusted_peer(int socket);

}  // namespace pcp::trace::client
