// SPDX-License-Identifier: LGPL-2.1-or-later
// Delivers to an agent, on one connection after the other. Picks the sender for the agent's
// version, and decides when to try again.
//
// Thread: the flusher's.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>

#include <asio/io_context.hpp>

#include "counts/legacy_sender.hpp"
#include "link/connection.hpp"
#include "link/output.hpp"
#include "process/agent_session.hpp"

namespace pcp::trace::client {

class AgentOutput final : public Output, private Connection::Listener {
 public:
  AgentOutput(asio::io_context& loop, const ClientOptions& options, Outbox& outbox,
              ReadClock now_ns);

  void report_to(Output::Listener& listener) override { listener_ = &listener; }
  void send_pending(std::uint64_t until) override;
  bool has_settled(std::uint64_t until) const override;
  bool has_told_open() const override { return sender_ != nullptr && sender_->has_told_open(); }
  void connect() override;
  bool hurry() override;
  void say_goodbye() override;
  void recover() override;
  std::uint64_t next_call_ns() const override;
  void on_timer() override;

  void hang_up() override { connection_.close(); }

 private:
  void on_greeting(std::uint32_t version) override;
  bool on_pdu(const wire::Frame& pdu) override;
  void on_failure(int error) override;
  void tell_change();
  void plan_next_attempt(int error);
  std::chrono::nanoseconds next_pause(int error);
  int any_of(int least, int most);

  const ClientOptions& options_;
  DeliveryCounters& counters_;
  const ReadClock now_ns_;
  Connection connection_;
  AgentSession session_;
  LegacySender legacy_sender_;
  Sender* sender_ = nullptr;  // of the present connection
  Output::Listener* listener_ = nullptr;

  enum class Phase { Down, Connecting, Up, Pausing } phase_ = Phase::Down;
  std::size_t failures_ = 0;                // in a row, of attempts at all endpoints
  std::uint64_t next_full_attempt_ns_ = 0;  // before that only the local endpoint
  std::uint64_t next_attempt_ns_ = 0;
  bool is_local_attempt_ = false;
  bool has_hurried_ = false;
  bool has_told_attempt_ = false;  // reported success
  bool ever_connected_ = false;
  std::minstd_rand random_;
};

}  // namespace pcp::trace::client
