// SPDX-License-Identifier: LGPL-2.1-or-later
// Whose process is at the other end of a TCP connection within this machine: the kernel knows the
// owner of each of its sockets, the peer's among them.
#pragma once

#include <cstdint>
#include <optional>

namespace pcp::trace::agent {

// Nothing if the peer is not on this machine, or has gone.
std::optional<std::uint32_t> tcp_owner(int socket);

// The same out of the list of all connections, which takes longer: for kernels that cannot be asked
// for one.
std::optional<std::uint32_t> listed_tcp_owner(int socket);

}  // namespace pcp::trace::agent
