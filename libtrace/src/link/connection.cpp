// SPDX-License-Identifier: LGPL-2.1-or-later
#include "link/connection.hpp"

#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "harmless/descriptors.hpp"
#include "harmless/diagnostics.hpp"
#include "harmless/rest_at_fork.hpp"
#include "pcp/trace.h"
#include "wire/legacy.hpp"

namespace pcp::trace::client {
namespace {

constexpr std::size_t kReadBytes = 4096;

// Most of an attempt's messages are repeated; the number of distinct ones is small.
constexpr std::size_t kMostTold = 16;

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

int new_socket(int family) {
  return ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

// The socket that knock() has connected, until a Connection takes it over; -1: none. Written by the
// thread that makes the client, then the flusher's.
int knocked = -1;

}  // namespace

bool knock(const ClientOptions& options) {
  knocked = -1;  // a forked child inherits the number
  if (!options.socket_only || options.mmv_only) return false;
  const Endpoint place = find_endpoints(options, Reach::Local).front();
  const int fd = keep_apart(new_socket(place.family()));
  if (connect_kept(fd, place.address, place.length) == 0)
    knocked = fd;
  else if (fd >= 0 && let_go_of_descriptor(fd))
    ::close(fd);
  return knocked >= 0;
}

Connection::Connection(asio::io_context& loop, Listener& listener)
    : listener_(listener), socket_(loop), deadline_(loop), reader_(kMaxReplyBytes) {}

void Connection::open(const ClientOptions& options, Reach reach) {
  close();
  endpoints_ = find_endpoints(options, reach);
  next_endpoint_ = 0;
  first_error_ = 0;
  attempt_ends_ = steady_now() + options.connect_timeout;
  if (options.has_local_endpoint() &&
      (endpoints_.empty() || endpoints_.front().family() != AF_UNIX))
    tell([&] { return "no agent's socket at " + options.socket_path; });
  const int none = reach == Reach::Local ? -ENOENT : -EHOSTUNREACH;
  try_next_endpoint(endpoints_.empty() ? none : 0);
}

void Connection::close() {
  ++attempt_;
  asio::error_code ignored;
  deadline_.cancel();
  socket_.close(ignored);
  greeted_ = writing_ = is_end_expected_ = false;
  outgoing_.clear();
}

// Tries the next endpoint after an error (0: none yet). Reports the first error at the end.
void Connection::try_next_endpoint(int error) {
  if (first_error_ == 0) first_error_ = error;
  if (error != 0) tell_failure(pmtraceerrstr(error));
  if (next_endpoint_ == endpoints_.size()) return give_up(first_error_);
  // Each endpoint gets an equal share of the time left, so a silent one leaves time for the others.
  ++attempt_;
  reader_ = wire::FrameReader(kMaxReplyBytes);
  deadline_.expires_after((attempt_ends_ - steady_now()) /
                          static_cast<int>(endpoints_.size() - next_endpoint_));
  deadline_.async_wait(while_forks_wait([this, attempt = attempt_](const asio::error_code& late) {
    if (late || attempt != attempt_) return;
    greeted_ ? fail(PMTRACE_ERR_TIMEOUT) : try_next_endpoint(PMTRACE_ERR_TIMEOUT);
  }));
  const Endpoint& endpoint = endpoints_[next_endpoint_++];
  tell([&] { return "connecting to " + endpoint.name(); });

  asio::error_code ignored;
  socket_.close(ignored);
  if (!take_over_knock() && !begin_to_connect(endpoint)) return try_next_endpoint(-errno);
  socket_.async_wait(asio::posix::stream_descriptor::wait_write,
                     while_forks_wait([this, attempt = attempt_,
                                       family = endpoint.family()](const asio::error_code& failed) {
                       if (attempt != attempt_) return;
                       if (failed) return try_next_endpoint(-failed.value());
                       on_connected(family);
                     }));
}

bool Connection::take_over_knock() {
  const int fd = std::exchange(knocked, -1);
  if (fd < 0) return false;
  if (may_use_descriptor(fd)) return take(fd);
  let_go_of_descriptor(fd);  // the program has closed it
  return false;
}

// False with errno.
bool Connection::begin_to_connect(const Endpoint& endpoint) {
  const int fd = keep_descriptor(new_socket(endpoint.family()));
  if (fd < 0 || !take(fd)) return false;
  if (endpoint.family() != AF_UNIX) set_tcp_options(fd);
  return connect_kept(fd, endpoint.address, endpoint.length) == 0 || errno == EINPROGRESS;
}

// False with errno.
bool Connection::take(int fd) {
  asio::error_code failed;
  socket_.assign(fd, failed);
  if (!failed) return true;
  ::close(fd);
  errno = failed.value();
  return false;
}

void Connection::on_connected(int family) {
  int refused = 0;
  socklen_t size = sizeof refused;
  if (::getsockopt(socket_.native_handle(), SOL_SOCKET, SO_ERROR, &refused, &size) != 0)
    refused = errno;
  if (refused == 0 && family == AF_UNIX && !has_trusted_peer(socket_.native_handle()))
    refused = EPERM;
  if (refused != 0) return try_next_endpoint(-refused);
  read();
}

void Connection::read() {
  socket_.async_wait(asio::posix::stream_descriptor::wait_read,
                     while_forks_wait([this, attempt = attempt_](const asio::error_code& error) {
                       if (attempt != attempt_) return;
                       if (error) return fail(-error.value());
                       const ssize_t got = receive_kept(socket_.native_handle(),
                                                        reader_.prepare(kReadBytes), kReadBytes);
                       if (got == 0) return fail(PMTRACE_ERR_IPC, "the agent hung up");
                       if (got < 0 && errno != EAGAIN && errno != EINTR) return fail(-errno);
                       reader_.commit(got > 0 ? static_cast<std::size_t>(got) : 0);
                       if (handle_pdus()) read();
                     }));
}

// False if the connection is gone.
bool Connection::handle_pdus() {
  const std::uint64_t attempt = attempt_;
  wire::Frame pdu;
  for (;;) {
    switch (reader_.next(pdu)) {
      case wire::FrameReader::Status::NeedMore:
        return true;
      case wire::FrameReader::Status::Malformed:
        fail(PMTRACE_ERR_IPC);
        return false;
      case wire::FrameReader::Status::Frame:
        diagnose_pdu("received", pdu);
        const bool good = greeted_ ? listener_.on_pdu(pdu) : on_greeting(pdu);
        if (attempt != attempt_) return false;
        if (!good) {
          fail(PMTRACE_ERR_IPC);
          return false;
        }
    }
  }
}

// The first PDU tells the agent's version, or why it refuses us.
bool Connection::on_greeting(const wire::Frame& pdu) {
  const auto code = wire::decode_ack(pdu.payload);
  if (pdu.type != wire::PduType::Ack || !code) return false;
  if (*code < 0) {
    fail(*code);
    return true;
  }
  greeted_ = true;
  told_.clear();
  listener_.on_greeting(static_cast<std::uint32_t>(*code));
  return true;
}

// Writes at once: an ending process may not come back to the loop.
void Connection::send(std::string_view out) {
  outgoing_ += out;
  if (!writing_ && (!write_some() || !outgoing_.empty())) wait_to_write();
}

// False with errno if the connection is broken.
bool Connection::write_some() {
  const ssize_t sent = send_kept(socket_.native_handle(), outgoing_.data(), outgoing_.size());
  outgoing_.erase(0, sent > 0 ? static_cast<std::size_t>(sent) : 0);
  return sent >= 0 || errno == EAGAIN || errno == EINTR;
}

// Also reports a failure of send(), afterwards: inside of send() the sender does not expect one.
void Connection::wait_to_write() {
  writing_ = true;
  socket_.async_wait(asio::posix::stream_descriptor::wait_write,
                     while_forks_wait([this, attempt = attempt_](const asio::error_code& error) {
                       if (attempt != attempt_) return;
                       writing_ = false;
                       if (error) return fail(-error.value());
                       if (!write_some()) return fail(-errno);
                       if (!outgoing_.empty()) wait_to_write();
                     }));
}

void Connection::fail(int error) { fail(error, pmtraceerrstr(error)); }

void Connection::fail(int error, const char* reason) {
  if (!greeted_)
    tell_failure(reason);
  else if (!is_end_expected_)
    diagnose(PMTRACE_STATE_COMMS, [&] { return std::string("connection lost: ") + reason; });
  give_up(error);
}

void Connection::give_up(int error) {
  close();
  listener_.on_failure(error);
}

// Prints a message about an attempt, once until there is a connection.
template <typename MakeText>
void Connection::tell(MakeText make_text) {
  if (!has_state(PMTRACE_STATE_COMMS) || told_.size() == kMostTold) return;
  std::string text = make_text();
  if (std::find(told_.begin(), told_.end(), text) != told_.end()) return;
  diagnose(PMTRACE_STATE_COMMS, [&] { return text; });
  told_.push_back(std::move(text));
}

void Connection::tell_failure(const char* reason) {
  if (next_endpoint_ == 0) return;  // no endpoint to try
  tell([&] { return "no connection to " + endpoints_[next_endpoint_ - 1].name() + ": " + reason; });
}

}  // namespace pcp::trace::client
