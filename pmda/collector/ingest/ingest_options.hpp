// SPDX-License-Identifier: LGPL-2.1-or-later
// Where the agent listens, and the limits for its peers.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/ingest/access.hpp"
#include "wire/defaults.hpp"

namespace pcp::trace::agent {

// The local addresses to listen on, for both IPv4 and IPv6.
enum class Tcp { AnyAddress, Loopback, None };

struct IngestOptions {
  Tcp tcp = Tcp::AnyAddress;
  std::uint16_t port = kDefaultPort;  // 0: any free one
  std::string socket_path;            // Unix socket; empty: none
  AccessList access;
  // If set, a peer must be on this machine, and must belong to this user or, on the Unix socket, be
  // a descendant of this process (with any user). A peer that certainly is neither is turned away,
  // and leaves no trace but a line in the log.
  std::optional<std::uint32_t> only_user;
  // Pause between two look-ups of a host in `access` that has no address yet.
  std::chrono::milliseconds look_up_pause = std::chrono::seconds(5);

  std::vector<std::string> split;  // keys of process labels to add to its tags; valid keys

  // Limits. A peer that exceeds one loses its connection, unless noted otherwise. A user is a uid
  // on the Unix socket, or over TCP an IPv4 address or an IPv6 network of 64 bits; all loopback
  // addresses are one user.
  std::uint32_t max_pdu_bytes = 1u << 20;  // at least wire::kLeastMaxPduBytes
  // Tags with labels beyond the limit fold to their bare name, for which there is 1% more room;
  // four times as many ids of such tags are allowed.
  std::uint32_t max_tags_per_session = 100'000;
  std::uint32_t max_tags_per_user = 1'000'000;
  std::uint32_t max_tags_in_sessions = 2'000'000;  // all users together
  std::uint32_t max_label_bytes = 16 * 1024;       // names and labels in a HELLO
  // Labels kept for a user's tags and processes; three times that for all users. Beyond it, a
  // process is accepted without labels.
  std::size_t max_kept_label_bytes = 32u << 20;
  // Fewer if descriptors are short; further ones are refused. A user may have a third of them, but
  // always 1,000.
  std::uint32_t max_connections = 20'000;
  std::uint32_t max_sessions_per_user =
      10'000;  // connected ones; the oldest of the others are forgotten
  // Without a connection, of all users. Beyond it, the user with most loses the oldest.
  std::uint32_t max_remembered_sessions = 100'000;
  std::size_t max_unfinished_bytes = 256u << 20;  // incomplete PDUs, of all connections
  std::chrono::milliseconds unfinished_pdu = std::chrono::seconds(30);
  // How long a session is remembered after a connection lost without BYE.
  std::chrono::milliseconds remember_session = std::chrono::hours(1);

  // Tags with transactions in flight, counted per session: at most this many in all, half of it per
  // user, and max_tags_per_session per session. Further ones are left out.
  std::uint32_t max_in_flight = 100'000;
  // If a connection is lost without BYE, the transactions in flight are given up when the process
  // is seen to have ended, after this time, or (vanish_at_end) when the collector stops.
  std::chrono::milliseconds vanish_after = std::chrono::minutes(2);
  bool vanish_at_end = false;

  // Spans per second of all processes together, in shares (span_intake.cpp).
  std::uint32_t max_spans_a_second = 20'000;
};

}  // namespace pcp::trace::agent
