// SPDX-License-Identifier: LGPL-2.1-or-later
// Turns what waits for an agent into PDUs: one sender per protocol version. A sender outlives its
// connections and remembers what is unacknowledged.
//
// Thread: the flusher's.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <string_view>

#include "wire/frame.hpp"

namespace pcp::trace::client {

// The pid in every PDU's header.
inline std::uint32_t own_pid() { return static_cast<std::uint32_t>(::getpid()); }

// A sender's view of the connection: bytes leave in order, or the connection ends.
class Transport {
 public:
  virtual void send(std::string_view bytes) = 0;

 protected:
  ~Transport() = default;
};

class Sender {
 public:
  virtual ~Sender() = default;

  virtual void on_connected() = 0;  // the greeting named this sender's version

  // False if malformed. now_ns: the present time, also below.
  virtual bool on_pdu(const wire::Frame& pdu, std::uint64_t now_ns) = 0;

  virtual void on_disconnected() = 0;
  virtual bool is_ready() const = 0;  // deltas may be sent

  // Sends Pending's entries before number `until`, as fast as the agent keeps up.
  virtual void send_pending(std::uint64_t until, std::uint64_t now_ns) = 0;

  // True if all entries taken before number `until` are settled: acknowledged, or given up and
  // counted.
  virtual bool has_settled(std::uint64_t until) const = 0;

  // True if the agent knows the transactions in flight, or cannot take them.
  virtual bool has_told_open() const { return true; }

  // Says that nothing more comes on this connection. False: it cannot be said, or was said before.
  virtual bool say_goodbye() { return false; }
};

}  // namespace pcp::trace::client
