// SPDX-License-Identifier: LGPL-2.1-or-later
// One socket to an agent after the other: bytes out, PDUs in. Never waits: its owner polls the
// descriptor for events().
//
// Thread: the flusher's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "link/client_options.hpp"
#include "link/endpoints.hpp"
#include "platform/own_descriptor.hpp"
#include "wire/frame.hpp"

namespace pcp::trace::client {

// Connects if there is only one place for an agent, as in a recording. Does not wait: a Unix socket
// takes a connection at once, or never. The first Connection on this socket takes it over. So the
// agent knows of a process before its first call returns, and sees from the connection's end if
// something may be missing. False if it did not connect. Thread: any, in a process without a
// flusher.
bool connect_early(const ClientOptions& options, OwnDescriptor& socket);

class Connection {
 public:
  // `socket` outlives the connection, so that a forked child finds it.
  explicit Connection(OwnDescriptor& socket);

  // Begins to connect. False with errno.
  bool open(const Endpoint& endpoint);
  void close();

  int descriptor() const { return socket_.number(); }
  bool is_connecting() const { return is_connecting_; }
  short events() const;  // what the connection waits for, as for poll()
  bool is_lost() const { return socket_.is_lost(); }

  // After an event, or on trial. Each gives 0 or a negative error code.
  int finish_connecting();
  int read();
  int write();

  // The next PDU that read() has got. It stays valid until the next read().
  wire::FrameReader::Status next(wire::Frame& pdu) { return reader_.next(pdu); }

  // The next bytes carry this descriptor. Requires: a Unix socket, to an agent that takes it.
  void pass(const OwnDescriptor& descriptor) { passed_ = &descriptor; }

  // Sends at once: an ending process may not come back to its loop. The rest waits for write(),
  // which also reports a failure. Requires: after finish_connecting().
  void send(std::string_view out);

 private:
  OwnDescriptor& socket_;
  bool is_connecting_ = false;
  bool has_connected_early_;
  int family_ = 0;
  wire::FrameReader reader_;
  std::string outgoing_;
  const OwnDescriptor* passed_ = nullptr;
};

}  // namespace pcp::trace::client
