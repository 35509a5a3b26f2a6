// SPDX-License-Identifier: LGPL-2.1-or-later
// How pending deltas become PDUs: one sender for each version of the protocol. A sender outlives
// its connections and knows what was sent and not acknowledged.
//
// Thread: the flusher's.
#pragma once

#include <unistd.h>

#include <cstdint>

#include "delivery/counters.hpp"
#include "delivery/pending.hpp"
#include "delivery/transport.hpp"
#include "wire/frame.hpp"

namespace pcp::trace::client {

// What every PDU's header carries.
inline std::uint32_t own_pid() { return static_cast<std::uint32_t>(::getpid()); }

class Sender {
 public:
  virtual ~Sender() = default;

  virtual void connected() = 0;  // the greeting named this sender's version

  // False if it makes no sense. now_ns is the present time, as below.
  virtual bool on_pdu(const wire::Frame& pdu, std::uint64_t now_ns) = 0;

  virtual void disconnected() = 0;
  virtual bool is_ready() const = 0;  // nothing more has to be agreed upon before deltas may leave

  // Sends what was queued in Pending before its entry number `until`, as far as the agent keeps up.
  virtual void send_pending(std::uint64_t until, std::uint64_t now_ns) = 0;

  // Tells whether all entries before number `until` that this sender took have been settled:
  // acknowledged, or given up and counted.
  virtual bool has_settled(std::uint64_t until) const = 0;

  // Tells whether the agent knows what is in flight, as far as it can take that.
  virtual bool has_told_open() const { return true; }

  virtual void say_goodbye() {}
};

}  // namespace pcp::trace::client
