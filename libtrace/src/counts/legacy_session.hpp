// SPDX-License-Identifier: LGPL-2.1-or-later
// Sends to a stock agent, version 1 of the protocol: a delta of n becomes n DATA PDUs. The stock
// agent drops a connection if one of its reads ends inside a header, so PDUs go in chunks that it
// reads at once. The last PDU of a chunk asks for an ACK, and one chunk is in flight at a time. A
// chunk without ACK is uncertain and not resent.
#pragma once

#include <string>
#include <string_view>

#include "counts/pending.hpp"
#include "link/output.hpp"
#include "wire/frame.hpp"

namespace pcp::trace::client {

class LegacySession {
 public:
  LegacySession(Pending& pending, DeliveryCounters& counters)
      : pending_(pending), counters_(counters) {}

  // As AgentSession's.
  void on_connected(std::string&) { is_connected_ = true; }
  void on_disconnected(std::uint64_t now_ns);
  bool on_pdu(const wire::Frame& pdu, std::uint64_t now_ns, std::string& out);
  bool is_ready() const { return is_connected_; }
  void send_pending(std::uint64_t until, std::uint64_t now_ns, std::string& out);
  bool has_settled(std::uint64_t until) const {
    return chunk_records_ == 0 && (rest_.delta.count == 0 || rest_entry_ >= until);
  }
  bool has_told_open() const { return true; }
  bool say_goodbye(std::string&) { return false; }

 private:
  // The stock agent's read size, and its longest tag.
  static constexpr std::size_t kChunkBytes = 1024;
  static constexpr std::size_t kMaxLegacyTag = 124;

  bool take_entry(std::uint64_t until);
  static std::string_view name_for_stock(const Tag& tag);

  Pending& pending_;
  DeliveryCounters& counters_;

  bool is_connected_ = false;
  Pending::Entry rest_;              // rest of the entry being sent
  std::string_view rest_name_;       // for a stock agent
  std::uint64_t rest_entry_ = 0;     // its number in Pending
  std::uint64_t chunk_records_ = 0;  // of the chunk in flight; 0: none
};

// Takes one value out of a delta. A transaction delta's values together have its minimum, maximum
// and sum; other types repeat the last value.
double take_legacy_value(TraceType type, Delta& delta);

}  // namespace pcp::trace::client
