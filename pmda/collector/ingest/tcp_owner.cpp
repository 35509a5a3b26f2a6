// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/ingest/tcp_owner.hpp"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "base/descriptor.hpp"

namespace pcp::trace::agent {

namespace {

std::string in_hex(std::uint32_t number, int digits) {
  std::array<char, 9> text{};
  std::snprintf(text.data(), text.size(), "%0*X", digits, number);
  return text.data();
}

// Formats an address and port as /proc/net/tcp and tcp6 do.
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

// Either getpeername() or getsockname().
using Name = int (*)(int, sockaddr*, socklen_t*);

sockaddr_storage address_of(int socket, Name name) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  name(socket, reinterpret_cast<sockaddr*>(&address), &length);
  return address;
}

// The kernel's data about a socket.
struct Listed {
  std::uint32_t state = 0;
  std::uint32_t owner = 0;
  std::uint64_t inode = 0;
};

void set_address(const sockaddr_storage& address, __be16& port, __be32* words) {
  if (address.ss_family == AF_INET) {
    sockaddr_in in;
    std::memcpy(&in, &address, sizeof in);
    port = in.sin_port;
    words[0] = in.sin_addr.s_addr;
  } else {
    sockaddr_in6 in6;
    std::memcpy(&in6, &address, sizeof in6);
    port = in6.sin6_port;
    std::memcpy(words, &in6.sin6_addr, sizeof in6.sin6_addr);
  }
}

struct Question {
  nlmsghdr header;
  inet_diag_req_v2 socket;
};

Question question_about(const sockaddr_storage& local, const sockaddr_storage& remote) {
  Question question{};
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.socket.sdiag_family = static_cast<__u8>(local.ss_family);
  question.socket.sdiag_protocol = IPPROTO_TCP;
  question.socket.idiag_states = ~__u32{0};
  set_address(local, question.socket.id.idiag_sport, question.socket.id.idiag_src);
  set_address(remote, question.socket.id.idiag_dport, question.socket.id.idiag_dst);
  question.socket.id.idiag_cookie[0] = question.socket.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  return question;
}

// Asks for one socket. Nothing if there is none, or if this kernel does not support it.
std::optional<Listed> ask_for(const sockaddr_storage& local, const sockaddr_storage& remote) {
  const Descriptor kernel(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  const Question question = question_about(local, remote);
  if (!kernel || ::send(kernel.get(), &question, sizeof question, 0) != sizeof question) return {};
  struct {
    nlmsghdr header;
    inet_diag_msg socket;
    std::array<char, 1024> more;
  } answer{};
  const ssize_t bytes = ::recv(kernel.get(), &answer, sizeof answer, 0);
  if (bytes < static_cast<ssize_t>(sizeof answer.header + sizeof answer.socket) ||
      answer.header.nlmsg_type != SOCK_DIAG_BY_FAMILY)
    return {};
  return Listed{answer.socket.idiag_state, answer.socket.idiag_uid, answer.socket.idiag_inode};
}

// Searches the list of all sockets, which may take milliseconds.
std::optional<Listed> look_for(const sockaddr_storage& local, const sockaddr_storage& remote) {
  const std::string its_local = as_listed(local);
  const std::string its_remote = as_listed(remote);
  std::ifstream list(local.ss_family == AF_INET ? "/proc/net/tcp" : "/proc/net/tcp6");
  for (std::string line; std::getline(list, line);) {
    std::istringstream fields(line);
    std::string number, first, second, queues, timer, retransmitted, patience;
    Listed found;
    if (fields >> number >> first >> second && first == its_local && second == its_remote &&
        fields >> std::hex >> found.state >> queues >> timer >> retransmitted >> std::dec >>
            found.owner >> patience >> found.inode)
      return found;
  }
  return {};
}

std::optional<Listed> find(const sockaddr_storage& local, const sockaddr_storage& remote) {
  const std::optional<Listed> asked = ask_for(local, remote);
  return asked ? asked : look_for(local, remote);
}

std::optional<std::uint32_t> owner_of_peer(int socket, decltype(find)& find_it) {
  const sockaddr_storage peer = address_of(socket, ::getpeername);
  if (peer.ss_family != AF_INET && peer.ss_family != AF_INET6) return {};
  const std::optional<Listed> found = find_it(peer, address_of(socket, ::getsockname));
  // A socket whose peer closed already is listed with owner root and inode 0.
  constexpr std::uint32_t kEstablished = 1;
  if (!found || found->state != kEstablished || found->inode == 0) return {};
  return found->owner;
}

}  // namespace

std::optional<std::uint32_t> tcp_owner(int socket) { return owner_of_peer(socket, find); }
std::optional<std::uint32_t> listed_tcp_owner(int socket) {
  return owner_of_peer(socket, look_for);
}

}  // namespace pcp::trace::agent
