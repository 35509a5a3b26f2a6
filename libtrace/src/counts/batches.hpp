// SPDX-License-Identifier: LGPL-2.1-or-later
// Batches of pending calls. An unacknowledged batch is sent again on the next connection, unless
// the same agent has forgotten our session: then its calls are uncertain.
//
// Thread: the flusher's.
#pragma once

#include <string>
#include <vector>

#include "counts/pending.hpp"
#include "link/output.hpp"
#include "link/sequenced.hpp"

namespace pcp::trace::client {

struct CountBatch : Numbered {
  std::uint64_t first_entry = 0;  // Pending's number of its first entry
  std::uint64_t records = 0;
  std::uint64_t first_ns = UINT64_MAX;  // times of its first and last record
  std::uint64_t last_ns = 0;
  std::uint64_t sent_ns = 0;  // last time
  std::string body;
  std::vector<const Tag*> tags;
};

class Batches {
 public:
  Batches(Pending& pending, DeliveryCounters& counters) : pending_(pending), counters_(counters) {}

  // False if the agent claims a batch that was never sent.
  bool on_welcome(AgentChange agent, std::uint64_t last_sequence);
  bool on_ack(std::uint64_t sequence);

  // Drops the first batch: the agent cannot decode it, and would refuse it on every connection.
  void give_up_first();

  // Makes a batch of Pending's next entries before number `until`. Null if there are none, or there
  // is no room.
  CountBatch* next(std::uint64_t until);

  // A batch without calls. Requires: room for it.
  CountBatch& add();

  using InFlight = Sequenced<CountBatch, 4>;  // later records are merged in Pending
  InFlight& in_flight() { return in_flight_; }
  const InFlight& in_flight() const { return in_flight_; }
  bool has_settled(std::uint64_t until) const {
    return in_flight_.empty() || in_flight_.front().first_entry >= until;
  }

 private:
  void fill(CountBatch& batch, std::uint64_t until);

  Pending& pending_;
  DeliveryCounters& counters_;
  InFlight in_flight_;
  std::size_t last_body_bytes_ = 0;  // estimate for the next one
};

}  // namespace pcp::trace::client
