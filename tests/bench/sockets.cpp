// SPDX-License-Identifier: LGPL-2.1-or-later
// Loads an agent over TCP with bare sockets: as many PDUs as it takes, faster than the stock
// library ever could; or one of several attacks, with all of one processor, until it is killed.
// Prints "begun" at full load.
//
//   sockets PORT KIND [TAGS SECONDS]
//
//   data      4 sockets that write 256 PDUs at once, of TAGS tags of all types, for SECONDS
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
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "wire/legacy.hpp"

namespace {

using pcp::trace::TraceType;
using Clock = std::chrono::steady_clock;

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

std::vector<pollfd> connect_many(int number) {
  std::vector<pollfd> sockets;
  for (int i = 0; i < number; ++i) {
    sockets.push_back({connect_to_agent(), POLLOUT, 0});
    if (sockets.back().fd < 0) std::exit(EXIT_FAILURE);
  }
  return sockets;
}

void reconnect(int& fd) {
  ::close(fd);
  fd = connect_to_agent();
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

void append_data(std::string& out, std::string_view tag, TraceType type = TraceType::Point,
                 bool wants_ack = false, double value = -1) {
  pcp::trace::wire::append_data(out, 1, {type, wants_ack, value, tag});
}

// Each socket writes all PDUs again and again, as the agent takes them, until the end.
// `reconnects`: also after the agent has closed the connection.
void write_on(std::vector<pollfd> sockets, const std::string& pdus, bool reconnects,
              Clock::time_point end = Clock::time_point::max()) {
  begun();
  std::vector<std::size_t> at(sockets.size());
  for (std::size_t finished = 0; finished < sockets.size();) {
    ::poll(sockets.data(), sockets.size(), -1);
    finished = 0;
    for (std::size_t i = 0; i < sockets.size(); ++i) {
      if (at[i] == 0 && Clock::now() > end) sockets[i].events = 0;
      finished += sockets[i].events == 0 ? 1 : 0;
      if (sockets[i].events == 0 || sockets[i].revents == 0) continue;
      const ssize_t sent = ::send(sockets[i].fd, pdus.data() + at[i], pdus.size() - at[i],
                                  MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) {
        at[i] = (at[i] + static_cast<std::size_t>(sent)) % pdus.size();
      } else if (reconnects && errno != EAGAIN) {
        reconnect(sockets[i].fd);
        at[i] = 0;
      }
    }
  }
  for (const pollfd& each : sockets) ::close(each.fd);
}

// All PDUs take 32 bytes, so that the stock agent, which reads 1,024, stays in step.
void data(int tags, double seconds) {
  std::string pdus;
  for (int i = 0; i < 256; ++i) {
    char name[16];
    std::snprintf(name, sizeof name, "tag%04d", i % tags);
    const TraceType type = pcp::trace::kTraceTypes[static_cast<std::size_t>(i % tags % 4)];
    append_data(pdus, name, type, false, type == TraceType::Point ? -1 : 0.002 + 0.0005 * (i / 4));
  }
  std::vector<pollfd> sockets = connect_many(4);
  std::array<char, 16> greeting;  // unread, it would lose the last PDUs
  for (const pollfd& each : sockets) ::recv(each.fd, greeting.data(), greeting.size(), MSG_WAITALL);
  write_on(sockets, pdus, true,
           Clock::now() +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
}

void slow() {
  std::vector<pollfd> sockets = connect_many(500);
  std::string pdu;
  append_data(pdu, std::string(200, 's'));
  begun();
  for (std::size_t at = 0;; ++at) {
    for (pollfd& each : sockets) {
      // Fails if the agent has closed the connection.
      if (::send(each.fd, &pdu[at % pdu.size()], 1, MSG_NOSIGNAL) != 1) reconnect(each.fd);
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
  int fd = connect_many(1)[0].fd;
  begun();
  for (std::uint64_t number = 0;;) {
    std::string pdus;
    for (int i = 0; i < 1000; ++i) append_data(pdus, "tag" + std::to_string(number++));
    if (::send(fd, pdus.data(), pdus.size(), MSG_NOSIGNAL) < 0) reconnect(fd);
  }
}

void deaf() {
  std::string pdus;
  for (int i = 0; i < 1000; ++i) append_data(pdus, "deaf", TraceType::Point, true);
  write_on(connect_many(100), pdus, false);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return EXIT_FAILURE;
  port = static_cast<std::uint16_t>(std::atoi(argv[1]));
  const std::string_view kind = argv[2];
  if (kind == "data" && argc == 5) {
    data(std::atoi(argv[3]), std::atof(argv[4]));
    return EXIT_SUCCESS;
  }
  const std::map<std::string_view, void (*)()> attacks{{"slow", slow},
                                                       {"connects", connects},
                                                       {"nonsense", nonsense},
                                                       {"tags", tags},
                                                       {"deaf", deaf}};
  if (!attacks.contains(kind)) return EXIT_FAILURE;
  attacks.at(kind)();
}
