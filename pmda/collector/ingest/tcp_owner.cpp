// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/tcp_owner.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace pcp::trace::agent {

namespace {

std::string in_hex(std::uint32_t number, int digits) {
  std::array<char, 9> text{};
  std::snprintf(text.data(), text.size(), "%0*X", digits, number);
  return text.data();
}

// An address and port as /proc/net/tcp and tcp6 write them.
std::string as_listed(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    sockaddr_in in;
    std::memcpy(&in, &address, sizeof in);
    return in_hex(in.sin_addr.s_addr, 8) + ':' + in_hex(ntohs(in.sin_port), 4);
  }
  sockaddr_in6 in6;
  std::memcpy(&in6, &address, sizeof in6);
  std::array<std::uint32_t, 4> words{};
  std::memcpy(words.data(), &in6.sin6_addr, sizeof words);
  std::string text;
  for (const std::uint32_t word : words) text += in_hex(word, 8);
  return text + ':' + in_hex(ntohs(in6.sin6_port), 4);
}

// What getpeername() and getsockname() are.
using Name = int (*)(int, sockaddr*, socklen_t*);

sockaddr_storage address_of(int socket, Name name) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  name(socket, reinterpret_cast<sockaddr*>(&address), &length);
  return address;
}

}  // namespace

std::optional<std::uint32_t> tcp_owner(int socket) {
  const sockaddr_storage peer = address_of(socket, ::getpeername);
  if (peer.ss_family != AF_INET && peer.ss_family != AF_INET6) return {};
  const std::string local_of_peer = as_listed(peer);
  const std::string remote_of_peer = as_listed(address_of(socket, ::getsockname));
  std::ifstream list(peer.ss_family == AF_INET ? "/proc/net/tcp" : "/proc/net/tcp6");
  for (std::string line; std::getline(list, line);) {
    std::istringstream fields(line);
    std::string number, local, remote, state, queues, timer, retransmitted;
    std::uint32_t owner = 0;
    if (fields >> number >> local >> remote && local == local_of_peer && remote == remote_of_peer &&
        fields >> state >> queues >> timer >> retransmitted >> owner)
      return owner;
  }
  return {};
}

}  // namespace pcp::trace::agent
