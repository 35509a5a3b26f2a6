// SPDX-License-Identifier: LGPL-2.1-or-later
// The connections of all peers: who may connect, and what they share of the limits. A connection
// that lingers stays here until it has closed.
//
// Thread: the ingest thread; set_limits() comes before it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <asio/io_context.hpp>

#include "base/descriptor.hpp"
#include "collector/ingest/access.hpp"
#include "collector/ingest/dialogue.hpp"
#include "collector/ingest/peer.hpp"

namespace pcp::trace::agent {

class PeerConnection;

class Connections {
 public:
  Connections(asio::io_context& io, IngestOptions& options, DialogueContext& context);

  void set_limits(std::size_t descriptors);
  std::size_t max_talking() const { return max_talking_; }

  // Greets the peer, or refuses it.
  void accept(Descriptor socket, Peer peer);
  void close(std::uint64_t number);
  void check_time(Instant now);

  bool empty() const { return connections_.empty(); }
  std::size_t talking() const { return talking_; }

  // Visits so many connections at once. Peers are served before the next ones.
  void visit(int at_once, const std::function<void(PeerConnection&)>& visitor,
             const std::function<void()>& done, std::uint64_t after = 0);

  // Sends all peers away. Stops the loop as soon as the last one has closed.
  void end_all();

  // For a connection: it has stopped talking; true if it may wait for its peer to close; it has
  // closed; the memory of all unfinished PDUs has changed.
  void release(const PeerConnection& connection);
  bool may_linger() const { return connections_.size() - talking_ <= max_lingering_; }
  void forget(std::uint64_t number);
  bool change_unfinished_bytes(std::size_t less, std::size_t more);  // false: too many

  DialogueContext& context() { return context_; }

 private:
  struct Open {
    std::shared_ptr<PeerConnection> connection;
    Admission admission;
  };

  template <typename Visitor>
  void for_each(Visitor visitor);
  std::optional<bool> is_users(int socket, const Peer& peer) const;
  void turn_away(int socket, const Peer& peer);
  void receive(PeerConnection& connection, Open& open, bool is_welcome);
  bool has_room_for(const Peer& peer) const;

  asio::io_context& io_;
  IngestOptions& options_;
  DialogueContext& context_;
  std::size_t max_talking_ = 0;
  std::size_t max_talking_of_user_ = 0;
  std::size_t max_lingering_ = 0;

  std::map<std::uint64_t, Open> connections_;  // by connection number
  std::uint64_t last_number_ = 0;
  std::size_t talking_ = 0;                        // connections that are not lingering
  std::map<std::string, std::size_t> talking_of_;  // the same per owner
  std::size_t unfinished_bytes_ = 0;               // of all connections
  bool is_ending_ = false;
};

}  // namespace pcp::trace::agent
