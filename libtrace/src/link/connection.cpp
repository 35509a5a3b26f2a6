// SPDX-License-Identifier: LGPL-2.1-or-later
#include "link/connection.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "pcp/trace.h"

namespace pcp::trace::client {
namespace {

constexpr std::size_t kReadBytes = 4096;

// Largest PDU from an agent.
constexpr std::size_t kMaxReplyBytes = wire::kLeastMaxPduBytes;

void set_option(int socket, int level, int option, int value) {
  ::setsockopt(socket, level, option, &value, sizeof value);
}

void set_tcp_options(int socket) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  // Notices a vanished host within a minute; a busy agent is no failure.
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 10);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 60'000);
}

// False with errno.
bool take_new_socket(OwnDescriptor& socket, int family) {
  return socket.take(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Where poll() is forbidden, the owner tries before TCP is ready.
bool is_still_connecting(int socket) {
  std::uint8_t state = 0;  // the first part of tcp_info
  socklen_t size = sizeof state;
  return ::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &state, &size) == 0 && state == TCP_SYN_SENT;
}

bool is_temporary(int error) { return error == EAGAIN || error == EINTR; }

}  // namespace

bool connect_early(const ClientOptions& options, OwnDescriptor& socket) {
  if (!options.socket_only || options.mmv_only) return false;
  const Endpoint place = find_endpoints(options, Reach::Local).front();
  if (take_new_socket(socket, place.family()) && socket.connect(place.address, place.length))
    return true;
  socket.close();
  return false;
}

Connection::Connection(OwnDescriptor& socket)
    : socket_(socket), has_connected_early_(socket.number() >= 0), reader_(kMaxReplyBytes) {}

bool Connection::open(const Endpoint& endpoint) {
  outgoing_.clear();
  reader_ = wire::FrameReader(kMaxReplyBytes);
  family_ = endpoint.family();
  is_connecting_ = true;
  if (std::exchange(has_connected_early_, false) && socket_.is_ours()) return true;
  if (!take_new_socket(socket_, family_)) return false;
  if (family_ != AF_UNIX) set_tcp_options(socket_.number());
  return socket_.connect(endpoint.address, endpoint.length) || errno == EINPROGRESS;
}

void Connection::close() {
  socket_.close();
  passed_ = nullptr;
  outgoing_.clear();
  is_connecting_ = false;
}

short Connection::events() const {
  if (is_connecting_) return POLLOUT;
  return static_cast<short>(outgoing_.empty() ? POLLIN : POLLIN | POLLOUT);
}

int Connection::finish_connecting() {
  if (is_still_connecting(socket_.number())) return 0;
  int refused = 0;
  socklen_t size = sizeof refused;
  if (::getsockopt(socket_.number(), SOL_SOCKET, SO_ERROR, &refused, &size) != 0) return -errno;
  if (refused == 0 && family_ == AF_UNIX && !has_trusted_peer(socket_.number())) refused = EPERM;
  is_connecting_ = false;
  return -refused;
}

int Connection::read() {
  const ssize_t got = socket_.receive(reader_.prepare(kReadBytes), kReadBytes);
  if (got == 0) return PMTRACE_ERR_IPC;
  if (got < 0) return is_temporary(errno) ? 0 : -errno;
  reader_.commit(static_cast<std::size_t>(got));
  return 0;
}

int Connection::write() {
  if (outgoing_.empty()) return 0;
  const ssize_t sent = socket_.send(outgoing_.data(), outgoing_.size(), passed_);
  if (sent < 0) return is_temporary(errno) ? 0 : -errno;
  passed_ = nullptr;
  outgoing_.erase(0, static_cast<std::size_t>(sent));
  return 0;
}

void Connection::send(std::string_view out) {
  const bool waits = !outgoing_.empty();
  outgoing_ += out;
  if (!waits) write();
}

}  // namespace pcp::trace::client
