// SPDX-License-Identifier: LGPL-2.1-or-later
#include "link/endpoints.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <system_error>
#include <thread>

#include "pcp/trace.h"
#include "platform/diagnostics.hpp"
#include "platform/forks.hpp"

namespace pcp::trace::client {
namespace {

template <typename Address>
Endpoint make_endpoint(const Address& address, socklen_t length = sizeof(Address)) {
  Endpoint endpoint;
  std::memcpy(&endpoint.address, &address, sizeof address);
  endpoint.length = length;
  return endpoint;
}

Endpoint unix_endpoint(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return make_endpoint(address);
}

// No name look-up for this host: that may take seconds, and the agent listens on every address.
std::vector<Endpoint> loopback(std::uint16_t port) {
  sockaddr_in ipv4{};
  ipv4.sin_family = AF_INET;
  ipv4.sin_port = htons(port);
  ipv4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 ipv6{};
  ipv6.sin6_family = AF_INET6;
  ipv6.sin6_port = htons(port);
  ipv6.sin6_addr = in6addr_loopback;
  return {make_endpoint(ipv4), make_endpoint(ipv6)};
}

// Gives the calling thread its own descriptor table: only the first three, on /dev/null.
// No fork copies it.
void leave_descriptors() {
  if (::close_range(0, ~0U, CLOSE_RANGE_UNSHARE) != 0) return;
  for (int standard = 0; standard <= 2; ++standard) ::open("/dev/null", O_RDWR | O_CLOEXEC);
}

// For look-ups in the network, which may take seconds. They run in a thread with its own descriptor
// table: a fork meanwhile does not copy the resolver's sockets to the child.
template <typename LookUp>
void look_up_apart(LookUp look_up) {
  const UnblockForks meanwhile;
  try {
    std::thread([&] {
      leave_descriptors();
      look_up();
    }).join();
  } catch (const std::system_error&) {  // no thread could be made
    look_up();
  }
}

std::vector<Endpoint> look_up(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  const std::string service = std::to_string(port);
  addrinfo* first = nullptr;
  int error;
  look_up_apart([&] { error = ::getaddrinfo(host.c_str(), service.c_str(), &hints, &first); });
  if (error == EAI_MEMORY) throw std::bad_alloc();
  if (error != 0) {
    diagnose(PMTRACE_STATE_COMMS,
             [&] { return "unknown host \"" + host + "\": " + ::gai_strerror(error); });
    return {};
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found(first, ::freeaddrinfo);
  std::vector<Endpoint> endpoints;
  for (const addrinfo* each = first; each != nullptr; each = each->ai_next) {
    Endpoint& endpoint = endpoints.emplace_back();
    std::memcpy(&endpoint.address, each->ai_addr, each->ai_addrlen);
    endpoint.length = each->ai_addrlen;
  }
  return endpoints;
}

// In a user namespace each user without an id there has this one.
bool may_be_anybody(uid_t uid) {
  constexpr uid_t kNobody = 65534;
  if (uid != kNobody) return false;
  std::array<char, 64> text{};
  const int file = ::open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
  const bool is_read = ::read(file, text.data(), text.size() - 1) > 0;
  ::close(file);
  unsigned count = 0;
  const bool is_known = is_read && std::sscanf(text.data(), " 0 0 %u", &count) == 1;
  return !is_known || count != ~0U;
}

// Not apart: modules that know users, such as Samba's, keep a descriptor's number for the program's
// next look-up.
bool is_pcp_user(uid_t uid) {
  const char* name = ::secure_getenv("PCP_USER");
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> buffer;
  const UnblockForks meanwhile;
  ::getpwnam_r(name != nullptr ? name : "pcp", &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr && found->pw_uid == uid;
}

}  // namespace

std::string Endpoint::name() const {
  if (family() == AF_UNIX) return reinterpret_cast<const sockaddr_un&>(address).sun_path;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> service{};
  ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), length, host.data(), host.size(),
                service.data(), service.size(), NI_NUMERICHOST | NI_NUMERICSERV);
  return std::string(host.data()) + " port " + service.data();
}

std::vector<Endpoint> find_endpoints(const ClientOptions& options, Reach reach) {
  if (options.socket_only) return {unix_endpoint(options.socket_path)};
  if (!options.host.empty()) return look_up(options.host, options.port);
  std::vector<Endpoint> endpoints;
  if (reach == Reach::All) endpoints = loopback(options.port);
  struct stat status {};
  if (!options.tcp_only && ::stat(options.socket_path.c_str(), &status) == 0)
    endpoints.insert(endpoints.begin(), unix_endpoint(options.socket_path));
  return endpoints;
}

bool has_trusted_peer(int socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return false;
  if (peer.uid == 0) return true;  // the look-up may take long
  return !may_be_anybody(peer.uid) && (peer.uid == ::geteuid() || is_pcp_user(peer.uid));
}

}  // namespace pcp::trace::client
