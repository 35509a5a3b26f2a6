// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/connections.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include <asio/post.hpp>

#include "base/clock.hpp"
#include "collector/ingest/peer_connection.hpp"
#include "collector/ingest/process_state.hpp"
#include "collector/ingest/tcp_owner.hpp"
#include "collector/shared.hpp"
#include "pcp/trace.h"
#include "wire/legacy.hpp"

namespace pcp::trace::agent {

namespace {

// The share of all connections, or of all black boxes, for one user: a third, so that a user with
// both the Unix socket and TCP leaves some for others. A small total may go to one user.
std::size_t share_of_a_user(std::size_t connections) {
  constexpr std::size_t kAnybodys = 1000;
  return std::max(kAnybodys, connections / 3);
}

}  // namespace

Connections::Connections(asio::io_context& io, IngestOptions& options, DialogueContext& context)
    : io_(io), options_(options), context_(context) {
  context_.end_connection = [this](std::uint64_t number) { close(number); };
}

void Connections::set_limits(std::size_t descriptors) {
  max_lingering_ = std::min<std::size_t>(1024, descriptors / 8);
  const std::size_t boxes =
      std::min<std::size_t>(options_.max_connections, descriptors / 4 / BlackBoxes::kDescriptors);
  context_.boxes.set_limit(boxes, share_of_a_user(boxes));
  descriptors -= max_lingering_ + boxes * BlackBoxes::kDescriptors;
  max_talking_ = std::min<std::size_t>(options_.max_connections, descriptors);
  max_talking_of_user_ = share_of_a_user(max_talking_);
}

void Connections::accept(Descriptor socket, Peer peer) {
  peer.number = ++last_number_;
  const std::optional<bool> is_ours = is_users(socket.get(), peer);
  if (!is_ours.value_or(true)) return turn_away(socket.get(), peer);
  const auto connection = std::make_shared<PeerConnection>(io_, std::move(socket), peer, *this);
  Open& open = connections_[peer.number];
  open.connection = connection;
  try {
    receive(*connection, open, is_ours.value_or(false));
  } catch (...) {
    connection->close();
    throw;
  }
}

// Nothing if the kernel does not tell: over TCP the peer's process is unknown.
std::optional<bool> Connections::is_users(int socket, const Peer& peer) const {
  if (!options_.only_user || peer.uid == options_.only_user) return true;
  if (peer.uid != kUnknownUid) return is_descendant(peer.pid, peer.uid);
  return tcp_owner(socket) == options_.only_user ? std::optional(true) : std::nullopt;
}

// Keeps nothing of a stranger, and counts nothing: he must not change what the user's own programs
// find, nor how complete their data seem.
void Connections::turn_away(int socket, const Peer& peer) {
  std::string out;
  wire::append_ack(out, context_.pid, PMTRACE_ERR_PERMISSION);
  ::send(socket, out.data(), out.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  context_.log.say(peer, "refused: not a process of this user");
}

void Connections::receive(PeerConnection& connection, Open& open, bool is_welcome) {
  open.admission = is_welcome ? options_.access.acquire(connection.peer().address)
                              : Admission{Access::NotPermitted, {}};
  Access access = open.admission.access;
  if (access == Access::Allowed && !has_room_for(connection.peer())) {
    options_.access.release(open.admission);
    access = Access::TooManyConnections;
  }
  switch (access) {
    case Access::Allowed:
      ++talking_of_[connection.peer().owner()];  // may throw, so before the other counts
      ++talking_;
      tally(context_.shared.counters.accepted);
      context_.shared.counters.connections.store(talking_, std::memory_order_relaxed);
      connection.greet();
      break;
    case Access::NotPermitted:
      tally(context_.shared.counters.refused_permission);
      context_.log.say(connection.peer(), is_welcome ? "refused by the access rules (-A)"
                                                     : "refused: not a process of this user");
      connection.refuse(PMTRACE_ERR_PERMISSION);
      break;
    case Access::TooManyConnections:
      tally(context_.shared.counters.refused_limit);
      context_.log.say(connection.peer(), "refused: too many connections");
      connection.refuse(PMTRACE_ERR_CONNLIMIT);
      break;
  }
}

bool Connections::has_room_for(const Peer& peer) const {
  const auto of_user = talking_of_.find(peer.owner());
  return talking_ < max_talking_ &&
         (of_user == talking_of_.end() || of_user->second < max_talking_of_user_);
}

void Connections::release(const PeerConnection& connection) {
  options_.access.release(connections_.at(connection.peer().number).admission);
  --talking_;
  const auto of_user = talking_of_.find(connection.peer().owner());
  if (--of_user->second == 0) talking_of_.erase(of_user);
  context_.shared.counters.connections.store(talking_, std::memory_order_relaxed);
}

void Connections::visit(int at_once, const std::function<void(PeerConnection&)>& visitor,
                        const std::function<void()>& done, std::uint64_t after) {
  auto next = connections_.upper_bound(after);
  for (int i = 0; i < at_once && next != connections_.end(); ++i) {
    after = next->first;
    const auto connection = (next++)->second.connection;  // a visit may close it
    visitor(*connection);
  }
  if (next == connections_.end()) return done();
  asio::post(io_, [=, this] { visit(at_once, visitor, done, after); });
}

void Connections::close(std::uint64_t number) {
  const auto found = connections_.find(number);
  if (found == connections_.end()) return;
  const auto connection = found->second.connection;  // outlives its entry here
  connection->close();
}

// A visitor may close its connection.
template <typename Visitor>
void Connections::for_each(Visitor visitor) {
  for (auto next = connections_.begin(); next != connections_.end();) {
    const auto connection = (next++)->second.connection;
    visitor(*connection);
  }
}

void Connections::check_time(Instant now) {
  for_each([now](PeerConnection& connection) { connection.check_time(now); });
}

void Connections::end_all() {
  is_ending_ = true;
  for_each([](PeerConnection& connection) {
    if (!connection.is_talking()) return;
    if (connection.is_version_2())
      connection.say_bye(wire::ByeReason::Done);
    else
      connection.close();
  });
  if (connections_.empty()) io_.stop();
}

void Connections::forget(std::uint64_t number) {
  connections_.erase(number);
  if (is_ending_ && connections_.empty()) io_.stop();
}

bool Connections::change_unfinished_bytes(std::size_t less, std::size_t more) {
  unfinished_bytes_ = unfinished_bytes_ - less + more;
  return unfinished_bytes_ <= options_.max_unfinished_bytes;
}

}  // namespace pcp::trace::agent
