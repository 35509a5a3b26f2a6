// SPDX-License-Identifier: LGPL-2.1-or-later
// The process's session with an agent of version 2, kept over connections. Introduces the process,
// defines tags, and sends two kinds of numbered messages: batches and captured spans. Their owners
// decide what is sent again. The transactions in flight and the library's counters ride in the
// heads of batches: made afresh each time a batch is sent, and told again to a new agent.
//
// Thread: the flusher's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "counts/batches.hpp"
#include "link/client_options.hpp"
#include "link/sender.hpp"
#include "process/outbox.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::client {

class AgentSession final : public Sender {
 public:
  AgentSession(Transport& transport, Outbox& outbox, const ClientOptions& options);

  void on_connected() override;
  bool on_pdu(const wire::Frame& pdu, std::uint64_t now_ns) override;
  void on_disconnected() override;
  bool is_ready() const override { return welcomed_; }
  void send_pending(std::uint64_t until, std::uint64_t now_ns) override;
  bool has_settled(std::uint64_t until) const override { return batches_.has_settled(until); }
  bool has_told_open() const override;
  bool say_goodbye() override;

  // The current agent's features; none before its WELCOME.
  bool has_feature(wire::Feature feature) const {
    return welcomed_ && features_.test(wire::number_of(feature));
  }

 private:
  bool on_welcome(const wire::Welcome& welcome, std::uint64_t now_ns);
  bool on_batch_ack(std::uint64_t sequence, std::uint64_t now_ns);
  bool has_forgotten(const wire::Welcome& welcome) const;
  bool was_sent(const Numbered& message) const { return message.nth_sent > sent_before_; }
  void give_up_malformed();
  void send_new(CountBatch& batch, std::uint64_t now_ns);
  void send(CountBatch& batch, std::uint64_t now_ns);
  void send(SpanBatch& spans);
  void send(const std::string& out);
  void define_tags(const std::vector<const Tag*>& tags, std::string& out);

  Transport& transport_;
  Outbox& outbox_;
  Batches batches_;
  wire::Hello hello_;
  std::optional<std::uint64_t> agent_;  // last agent instance
  std::uint64_t sent_ = 0;              // batches and EVENTS ever sent

  // State of the current connection.
  bool welcomed_ = false;
  bool has_said_goodbye_ = false;
  std::uint64_t sent_before_ = 0;  // sent_ when it began
  wire::FeatureSet features_;
  enum class Defined : std::uint8_t { No, ByName, WithDescription };
  std::vector<Defined> defined_;  // at the tag's id
};

}  // namespace pcp::trace::client
