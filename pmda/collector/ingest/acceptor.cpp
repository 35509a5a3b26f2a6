// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/acceptor.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

namespace pcp::trace::agent {

namespace {

// After this many connections the loop serves the existing ones again.
constexpr int kMostAtOnce = 64;

constexpr std::chrono::milliseconds kPause{100};

Peer describe(int socket, const sockaddr_storage& address) {
  Peer peer;
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    sockaddr_in in;
    std::memcpy(&in, &address, sizeof in);
    inet_ntop(AF_INET, &in.sin_addr, text, sizeof text);
    peer.port = ntohs(in.sin_port);
  } else if (address.ss_family == AF_INET6) {
    sockaddr_in6 in6;
    std::memcpy(&in6, &address, sizeof in6);
    inet_ntop(AF_INET6, &in6.sin6_addr, text, sizeof text);
    peer.port = ntohs(in6.sin6_port);
  } else {
    ucred credentials{};
    socklen_t length = sizeof credentials;
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0) {
      peer.uid = credentials.uid;
      peer.gid = credentials.gid;
      peer.pid = static_cast<std::uint32_t>(credentials.pid);
    }
    peer.address = "local:";
    return peer;
  }
  peer.address = text;
  return peer;
}

void set_tcp_options(int socket) {
  const int on = 1;
  // TCP_NODELAY, because answers are already collected. Keepalive detects peers that vanished.
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  const int idle_s = 60;
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
}

}  // namespace

asio::posix::stream_descriptor handed_over(asio::io_context& io, Descriptor descriptor) {
  asio::posix::stream_descriptor waiting(io);
  waiting.assign(descriptor.get());
  descriptor.release();
  return waiting;
}

Acceptor::Acceptor(asio::io_context& io, Descriptor listening, Accepted taken, Trouble trouble)
    : listening_(handed_over(io, std::move(listening))),
      timer_(io),
      taken_(std::move(taken)),
      trouble_(std::move(trouble)) {}

void Acceptor::stop() {
  timer_.cancel();
  asio::error_code ignored;
  listening_.close(ignored);
}

void Acceptor::wait() {
  if (!listening_.is_open()) return;
  listening_.async_wait(asio::posix::stream_descriptor::wait_read,
                        [this](const asio::error_code& error) {
                          if (!error) accept();
                        });
}

void Acceptor::accept() {
  if (accept_waiting()) wait();
}

bool Acceptor::accept_waiting() {
  for (int i = 0; i < kMostAtOnce && listening_.is_open(); ++i) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    Descriptor socket(::accept4(listening_.native_handle(), reinterpret_cast<sockaddr*>(&address),
                                &length, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      if (errno == EAGAIN || errno == EWOULDBLOCK) break;
      // These errors concern one connection, which ended before it was accepted.
      if (errno == EINTR || errno == ECONNABORTED || errno == EPROTO) continue;
      pause(errno);
      return false;
    }
    in_trouble_ = false;
    if (address.ss_family != AF_UNIX) set_tcp_options(socket.get());
    Peer peer = describe(socket.get(), address);
    try {
      taken_(std::move(socket), std::move(peer));
    } catch (const std::system_error& problem) {
      pause(problem.code().value());
      return false;
    } catch (const std::bad_alloc&) {
      pause(ENOMEM);
      return false;
    }
  }
  return true;
}

void Acceptor::pause(int error) {
  // The timer comes first, because the rest may run out of memory.
  timer_.expires_after(kPause);
  timer_.async_wait([this](const asio::error_code& failure) {
    if (!failure) accept();
  });
  if (!std::exchange(in_trouble_, true)) trouble_(error);
}

}  // namespace pcp::trace::agent
