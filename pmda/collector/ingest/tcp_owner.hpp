// SPDX-License-Identifier: LGPL-2.1-or-later
// Whose process is at the other end of a TCP connection within this machine: the kernel lists the
// owners of all its sockets, the peer's among them.
//
// Takes as long as the list is: not for those who have many connections.
#pragma once

#include <cstdint>
#include <optional>

namespace pcp::trace::agent {

// Nothing if the peer is not on this machine, or has gone.
std::optional<std::uint32_t> tcp_owner(int socket);

}  // namespace pcp::trace::agent
