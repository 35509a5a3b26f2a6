// SPDX-License-Identifier: LGPL-2.1-or-later
// Where the agent listens, and what it allows its peers.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/ingest/access.hpp"
#include "wire/defaults.hpp"

namespace pcp::trace::agent {

// At which of this machine's addresses, of IPv4 and IPv6.
enum class Tcp { AnyAddress, Loopback, None };

struct IngestOptions {
  Tcp tcp = Tcp::AnyAddress;
  std::uint16_t port = kDefaultPort;  // 0: any free one
  std::string socket_path;            // Unix socket; empty: none
  AccessList access;
  // Only programs of this user may connect, and over the Unix socket those that this process has
  // started, whoever they have become; they must be on this machine.
  std::optional<std::uint32_t> only_user;
  // Between two look-ups of a host in `access` that has no address yet.
  std::chrono::milliseconds look_up_pause = std::chrono::seconds(5);

  std::vector<std::string> split;  // labels of a process that its tags get; valid keys

  // Limits. A peer that goes over one loses its connection, except where another word is said. A
  // user is a uid on the Unix socket and an address over TCP, all loopback addresses being one.
  std::uint32_t max_pdu_bytes = 1u << 20;  // not below wire::kLeastMaxPduBytes
  // Of tags with labels those that go over fold to their bare name, for which there is 1% more
  // room; only ids of such tags may be four times as many.
  std::uint32_t max_tags_per_session = 100'000;
  std::uint32_t max_tags_per_user = 1'000'000;
  std::uint32_t max_tags_in_sessions = 2'000'000;  // all users together
  std::uint32_t max_label_bytes = 16 * 1024;       // names and labels of a HELLO
  // Of labels that are kept for a user's tags and processes; of all users three times that. Beyond
  // it a process is taken without labels.
  std::size_t max_kept_label_bytes = 32u << 20;
  // Less if there are fewer descriptors; beyond: refused. A user may have a third of them, and
  // 1,000 in any case.
  std::uint32_t max_connections = 20'000;
  std::uint32_t max_sessions_per_user =
      10'000;  // connected ones; of the others the oldest give way
  std::size_t max_unfinished_bytes = 256u << 20;  // waiting for the rest of their PDU, all together
  std::chrono::milliseconds unfinished_pdu = std::chrono::seconds(30);
  // After its connection has gone without a BYE.
  std::chrono::milliseconds remember_session = std::chrono::hours(1);

  // Tags of which something is in flight, of each session: so many of all, half of that of a user,
  // of a session as many as it may have tags. What goes over is left out.
  std::uint32_t max_in_flight = 100'000;
  // What was in flight when the connection has gone without a BYE is given up once its process is
  // seen to have ended, or after this time; or when the collector stops.
  std::chrono::milliseconds vanish_after = std::chrono::minutes(2);
  bool vanish_at_end = false;
};

}  // namespace pcp::trace::agent
