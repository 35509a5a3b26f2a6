// SPDX-License-Identifier: LGPL-2.1-or-later
// Delivers to an agent, on one connection after the other, with the session for the agent's
// version.
//
// Thread: the flusher's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "counts/legacy_session.hpp"
#include "link/attempt.hpp"
#include "link/connection.hpp"
#include "link/output.hpp"
#include "process/agent_session.hpp"

namespace pcp::trace::client {

class AgentOutput final : public Output {
 public:
  AgentOutput(OwnDescriptor& socket, const ClientOptions& options, Outbox& outbox,
              ReadClock now_ns);

  void send_pending(std::uint64_t until) override;
  bool has_settled(std::uint64_t until) const override;
  bool has_told_open() const override;
  void connect() override;
  bool hurry(std::uint64_t flush) override;
  void say_goodbye() override;
  void recover() override;

  pollfd awaited() const override;
  bool is_lost() const override { return connection_.is_lost(); }
  void on_ready() override;
  std::uint64_t next_call_ns() const override;
  void on_timer() override;

 private:
  enum class Phase { Down, Connecting, Greeted, Pausing };

  template <typename Use>
  auto with_session(Use use);
  void send(const std::string& out);
  void try_next_endpoint(int error);
  void handle_pdus();
  bool handle(const wire::Frame& pdu);
  bool on_greeting(const wire::Frame& pdu);
  void note_change();
  void fail(int error) { fail(error, nullptr); }
  void fail(int error, const char* reason);
  void end_attempt(int error);
  template <typename MakeText>
  void tell(MakeText make_text);
  void tell_failure(const char* reason);

  const ClientOptions& options_;
  DeliveryCounters& counters_;
  const ReadClock now_ns_;
  Connection connection_;
  Attempt attempt_;
  AgentSession session_;
  LegacySession legacy_session_;

  Phase phase_ = Phase::Down;
  bool is_legacy_ = false;         // the agent; known once it has greeted
  std::uint64_t hurried_for_ = 0;  // the last flush for which the pause was cut
  bool has_told_attempt_ = false;  // reported success
  bool is_end_expected_ = false;   // the agent is going to hang up
  std::vector<std::string> told_;  // printed since the last greeting
};

}  // namespace pcp::trace::client
