// SPDX-License-Identifier: LGPL-2.1-or-later
#include "unit/collector/ingest/test_peer.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "unit/collector/ingest/deadline.hpp"

namespace pcp::trace::agent {

namespace {

Descriptor connected(int family, const void* address, socklen_t length) {
  Descriptor socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket || ::connect(socket.get(), static_cast<const sockaddr*>(address), length) != 0)
    return {};
  return socket;
}

}  // namespace

bool has_ipv6() {
  const Descriptor socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 loopback{};
  loopback.sin6_family = AF_INET6;
  loopback.sin6_addr = in6addr_loopback;
  return socket &&
         ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&loopback), sizeof loopback) == 0;
}

TestPeer TestPeer::tcp(std::uint16_t port, const char* address) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(port);
  if (::inet_pton(AF_INET, address, &in.sin_addr) == 1)
    return TestPeer(connected(AF_INET, &in, sizeof in));
  sockaddr_in6 in6{};
  in6.sin6_family = AF_INET6;
  in6.sin6_port = htons(port);
  ::inet_pton(AF_INET6, address, &in6.sin6_addr);
  return TestPeer(connected(AF_INET6, &in6, sizeof in6));
}

TestPeer TestPeer::unconnected() {
  return TestPeer(Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)));
}

bool TestPeer::connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

TestPeer TestPeer::unix_socket(const std::string& path) {
  TestPeer peer = unconnected();
  if (!peer.connect(path)) peer.close();
  return peer;
}

bool TestPeer::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool TestPeer::send_with(std::string_view bytes, const std::vector<int>& descriptors) {
  const std::size_t size = descriptors.size() * sizeof(int);
  std::vector<char> control(CMSG_SPACE(size));
  iovec content{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(size);
  std::memcpy(CMSG_DATA(rights), descriptors.data(), size);
  return ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

bool PduStream::deliver(std::uint64_t sequence, const std::string& entries,
                        const std::string& pdus) {
  return deliver_batch(sequence, pdus + batch_pdu(sequence, entries));
}

bool PduStream::deliver_batch(std::uint64_t sequence, const std::string& pdus) {
  return send(pdus) && next_batch_ack() == sequence;
}

bool PduStream::leave() { return send(bye_pdu(wire::ByeReason::Done)) && at_end(); }

std::size_t TestPeer::send_until_full(std::string_view bytes) {
  std::size_t total = 0;
  while (total < bytes.size()) {
    const ssize_t sent = ::send(socket_.get(), bytes.data() + total, bytes.size() - total,
                                MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) break;
    total += static_cast<std::size_t>(sent);
  }
  return total;
}

void TestPeer::half_close() { ::shutdown(socket_.get(), SHUT_WR); }

bool TestPeer::fill() {
  pollfd readable{socket_.get(), POLLIN, 0};
  if (::poll(&readable, 1, static_cast<int>(kDeadline.count())) != 1) return false;
  char buffer[16 * 1024];
  const ssize_t got = ::recv(socket_.get(), buffer, sizeof buffer, 0);
  end_of_stream_ = got == 0;
  reset_ = got < 0;
  if (got <= 0) return false;
  received_.append(buffer, static_cast<std::size_t>(got));
  return true;
}

std::optional<PduStream::Pdu> PduStream::next() {
  for (;;) {
    if (received_.size() >= wire::kHeaderBytes) {
      const std::size_t length = wire::read_u32(received_);
      if (received_.size() >= length) {
        Pdu pdu{wire::PduType{wire::read_u32(std::string_view(received_).substr(4))},
                received_.substr(wire::kHeaderBytes, length - wire::kHeaderBytes)};
        received_.erase(0, length);
        return pdu;
      }
    }
    if (!fill()) return {};
  }
}

bool TestPeer::at_end() {
  while (fill()) {
  }
  return end_of_stream_ && !reset_;
}

std::optional<wire::Welcome> PduStream::hello(std::uint8_t session) {
  return hello(hello_of(session));
}

std::optional<wire::Welcome> PduStream::hello(const wire::Hello& hello) {
  if (next_ack() != static_cast<std::int32_t>(wire::kBatchVersion) ||
      !send(wire::pdu_of(wire::append_hello, hello)))
    return {};
  return next_as(wire::PduType::Welcome, wire::decode_welcome);
}

wire::Hello hello_of(std::uint8_t session) {
  wire::Hello hello;
  hello.session.fill(session);
  hello.pid = wire::kPid;
  hello.process = "program";
  hello.service = "service";
  return hello;
}

std::string entry(std::uint32_t tag_id, TraceType type, const std::vector<double>& values) {
  Delta delta;
  Histogram histogram;
  for (const double value : values)
    if (delta.add(value) && has_histogram(type)) histogram.add(value);
  std::string body;
  wire::append_delta(body, tag_id, type, delta, histogram);
  return body;
}

std::string batch_pdu(std::uint64_t sequence, const std::string& entries) {
  wire::ClientCounters counters;
  counters.recorded = 1000 + sequence;
  return wire::pdu_of(wire::append_batch, sequence, {{}, counters}, entries);
}

std::string in_flight_pdu(std::uint64_t sequence, const std::vector<wire::OpenCount>& open,
                          bool anew) {
  std::string in_flight;
  for (const wire::OpenCount& each : open) wire::append_open_count(in_flight, each);
  return wire::pdu_of(wire::append_batch, sequence, {{}, {}, in_flight, anew}, {});
}

}  // namespace pcp::trace::agent
