// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/listener.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

namespace pcp::trace::agent {

namespace {

constexpr int kStreamFlags = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

struct Bound {
  Descriptor socket;
  std::uint16_t port = 0;
  int error = 0;
};

Bound failed() { return {{}, 0, errno}; }

struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t length = 0;

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&bytes); }
};

SocketAddress tcp_address(int family, Tcp addresses, std::uint16_t port) {
  SocketAddress address;
  if (family == AF_INET) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(port);
    if (addresses == Tcp::Loopback) in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.length = sizeof in;
    std::memcpy(&address.bytes, &in, sizeof in);
  } else {
    sockaddr_in6 in6{};
    in6.sin6_family = AF_INET6;
    in6.sin6_port = htons(port);
    if (addresses == Tcp::Loopback) in6.sin6_addr = in6addr_loopback;
    address.length = sizeof in6;
    std::memcpy(&address.bytes, &in6, sizeof in6);
  }
  return address;
}

std::uint16_t port_of(const SocketAddress& address) {
  if (address.bytes.ss_family == AF_INET) {
    sockaddr_in in;
    std::memcpy(&in, &address.bytes, sizeof in);
    return ntohs(in.sin_port);
  }
  sockaddr_in6 in6;
  std::memcpy(&in6, &address.bytes, sizeof in6);
  return ntohs(in6.sin6_port);
}

Bound bind_tcp(int family, Tcp addresses, std::uint16_t port) {
  Descriptor socket(::socket(family, kStreamFlags, IPPROTO_TCP));
  if (!socket) return failed();
  const int on = 1;
  // A restarted agent can bind although connections of the old one linger.
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (family == AF_INET6 &&
      ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) != 0)
    return failed();
  SocketAddress address = tcp_address(family, addresses, port);
  if (::bind(socket.get(), address.get(), address.length) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0)
    return failed();
  address.length = sizeof address.bytes;
  if (::getsockname(socket.get(), address.get(), &address.length) != 0) return failed();
  return {std::move(socket), port_of(address), 0};
}

// Errors of a machine without the family.
bool means_no_family(int error) { return error == EAFNOSUPPORT || error == EADDRNOTAVAIL; }

Error bind_error(std::uint16_t port, int error) {
  return {"bind(" + std::to_string(port) + "): " + std::strerror(error)};
}

enum class Knock { Nobody, Somebody, NoSocket };

// Checks whether a process listens on a path.
Knock knock(const std::string& path, const sockaddr_un& address) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return Knock::Nobody;  // bind() gives the better error
  if (!S_ISSOCK(status.st_mode)) return Knock::NoSocket;
  const Descriptor socket(::socket(AF_UNIX, kStreamFlags, 0));
  if (!socket) return Knock::Somebody;
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return Knock::Somebody;
  // Other errors, such as a full queue, may come from a listening process.
  return errno == ECONNREFUSED || errno == ENOENT ? Knock::Nobody : Knock::Somebody;
}

}  // namespace

Result<TcpListeners> listen_tcp(Tcp addresses, std::uint16_t port) {
  // A port that is free for IPv4 may be busy for IPv6. If any port will do, another is tried.
  const int attempts = port == 0 ? 50 : 1;
  for (int attempt = 1;; ++attempt) {
    Bound first = bind_tcp(AF_INET, addresses, port);
    if (!first.socket && !means_no_family(first.error)) return bind_error(port, first.error);
    Bound second = bind_tcp(AF_INET6, addresses, first.socket ? first.port : port);
    if (second.socket || (first.socket && means_no_family(second.error))) {
      TcpListeners result;
      result.port = first.socket ? first.port : second.port;
      if (first.socket) result.sockets.push_back(std::move(first.socket));
      if (second.socket) result.sockets.push_back(std::move(second.socket));
      return result;
    }
    if (second.error != EADDRINUSE || attempt == attempts)
      return bind_error(first.socket ? first.port : port, second.error);
  }
}

Result<void> UnixListener::open(const std::string& path) {
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path)
    return Error{"the path is longer than " + std::to_string(sizeof address.sun_path - 1) +
                 " bytes"};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);

  switch (knock(path, address)) {
    case Knock::Somebody:
      return Error{"another process is listening on it"};
    case Knock::NoSocket:
      return Error{"the file there is not a socket"};
    case Knock::Nobody:
      ::unlink(path.c_str());
      break;
  }
  Descriptor socket(::socket(AF_UNIX, kStreamFlags, 0));
  if (!socket ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return Error{std::strerror(errno)};

  struct stat status {};
  // Like pmcd's own socket: access rules decide who may connect, not permissions.
  if (::chmod(path.c_str(), 0666) != 0 || ::lstat(path.c_str(), &status) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0) {
    Error error{std::strerror(errno)};
    ::unlink(path.c_str());
    return error;
  }
  path_ = path;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  socket_ = std::move(socket);
  return {};
}

void UnixListener::close() {
  socket_.reset();
  if (path_.empty()) return;
  struct stat status {};
  if (::lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_)
    ::unlink(path_.c_str());
  path_.clear();
}

}  // namespace pcp::trace::agent
