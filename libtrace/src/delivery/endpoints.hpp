// SPDX-License-Identifier: LGPL-2.1-or-later
// Where to look for the agent, in order.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "delivery/options.hpp"

namespace pcp::trace::client {

struct Endpoint {
  sockaddr_storage address{};
  socklen_t length = 0;
  int family() const { return address.ss_family; }
  std::string name() const;  // for diagnostics
};

// Which of them: all, or only the Unix socket.
enum class Reach { All, Local };

// Looks names up, so it may take its time. Empty if the host is unknown, or the socket is not
// there. Thread: the flusher's.
std::vector<Endpoint> find_endpoints(const Options& options, Reach reach);

// Tells whether the peer of a connected Unix socket is root, PCP's user or our own. Anybody else
// has made a socket where an agent was, or will be: an agent may ask for all that the program says.
bool has_trusted_peer(int socket);

}  // namespace pcp::trace::client
