// SPDX-License-Identifier: LGPL-2.1-or-later
// The user at the other end of a TCP connection within this machine. The kernel knows the owner of
// each of its sockets, including the peer's.
#pragma once

#include <cstdint>
#include <optional>

namespace pcp::trace::agent {

// Nothing if the peer is on another machine, or has closed the connection.
std::optional<std::uint32_t> tcp_owner(int socket);

// The same from the list of all connections, which takes longer: for kernels that do not support
// the direct question.
std::optional<std::uint32_t> listed_tcp_owner(int socket);

}  // namespace pcp::trace::agent
