// SPDX-License-Identifier: LGPL-2.1-or-later
// Attacks an agent over TCP in one of several ways, with all of one processor, until it is killed.
// Prints "begun" at full load.
//
//   hostile_peers PORT KIND
//
//   slow      500 connections send PDUs byte by byte, a thousand bytes a second in all
//   connects  connects and closes at once
//   nonsense  connects, and sends bytes that are no PDU
//   tags      defines and uses tags without end
//   deaf      100 connections that want acknowledgements and never read one
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "wire/legacy.hpp"

namespace {

using pcp::trace::TraceType;

std::uint16_t port = 0;

int connect_to_agent() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    return fd;
  if (fd >= 0) ::close(fd);
  return -1;  // too fast for the agent, or for this machine's ports: try the next connection
}

std::vector<int> connect_many(int number) {
  std::vector<int> sockets;
  for (int i = 0; i < number; ++i) {
    sockets.push_back(connect_to_agent());
    if (sockets.back() < 0) std::exit(EXIT_FAILURE);
  }
  return sockets;
}

// Closes with a reset, so that the attacker does not run out of ports.
void close_at_once(int fd) {
  const linger now{1, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  ::close(fd);
}

void begun() {
  std::puts("begun");
  std::fflush(stdout);
}

std::string data(std::string_view tag, bool wants_ack) {
  std::string pdu;
  pcp::trace::wire::append_data(pdu, 1, {TraceType::Point, wants_ack, -1, tag});
  return pdu;
}

void slow() {
  std::vector<int> sockets = connect_many(500);
  const std::string pdu = data(std::string(200, 's'), false);
  begun();
  for (std::size_t at = 0;; ++at) {
    for (int& fd : sockets) {
      if (::send(fd, &pdu[at % pdu.size()], 1, MSG_NOSIGNAL) != 1) {
        ::close(fd);  // the agent has closed the connection
        fd = connect_to_agent();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
}

void connects() {
  begun();
  for (;;) {
    const int fd = connect_to_agent();
    if (fd >= 0) close_at_once(fd);
  }
}

void nonsense() {
  const std::string bytes(64, '\xff');
  begun();
  for (;;) {
    const int fd = connect_to_agent();
    if (fd < 0) continue;
    ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    std::array<char, 64> answer;
    while (::recv(fd, answer.data(), answer.size(), 0) > 0) continue;
    close_at_once(fd);
  }
}

void tags() {
  int fd = connect_many(1)[0];
  begun();
  for (std::uint64_t number = 0;;) {
    std::string pdus;
    for (int i = 0; i < 1000; ++i) pdus += data("tag" + std::to_string(number++), false);
    if (::send(fd, pdus.data(), pdus.size(), MSG_NOSIGNAL) >= 0) continue;
    ::close(fd);
    fd = connect_to_agent();
  }
}

void deaf() {
  std::vector<pollfd> sockets;
  for (const int fd : connect_many(100)) sockets.push_back({fd, POLLOUT, 0});
  std::string pdus;
  for (int i = 0; i < 1000; ++i) pdus += data("deaf", true);
  begun();
  std::vector<std::size_t> at(sockets.size());
  for (;;) {
    ::poll(sockets.data(), sockets.size(), -1);
    for (std::size_t i = 0; i < sockets.size(); ++i) {
      if ((sockets[i].revents & POLLOUT) == 0) continue;
      const ssize_t sent = ::send(sockets[i].fd, pdus.data() + at[i], pdus.size() - at[i],
                                  MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) at[i] = (at[i] + static_cast<std::size_t>(sent)) % pdus.size();
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string_view, std::function<void()>> kinds{{"slow", slow},
                                                                {"connects", connects},
                                                                {"nonsense", nonsense},
                                                                {"tags", tags},
                                                                {"deaf", deaf}};
  if (argc != 3 || kinds.count(argv[2]) == 0) {
    std::fputs("usage: hostile_peers PORT slow|connects|nonsense|tags|deaf\n", stderr);
    return EXIT_FAILURE;
  }
  port = static_cast<std::uint16_t>(std::atoi(argv[1]));
  kinds.at(argv[2])();
}
