// SPDX-License-Identifier: LGPL-2.1-or-later
// Sends batches, version 2 of the protocol. Each batch has a sequence number, and the agent applies
// none twice. Unacknowledged batches are resent on the next connection, unless the same agent has
// forgotten our session: then they are uncertain.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "delivery/open_report.hpp"
#include "delivery/options.hpp"
#include "delivery/sender.hpp"
#include "delivery/span_sender.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::client {

class BatchSender final : public Sender {
 public:
  // Gives the library's counters, which every batch carries.
  using CountersSource = std::function<wire::ClientCounters()>;

  BatchSender(Transport& transport, Pending& pending, OpenReport& open, SpanSender& spans,
              DeliveryCounters& counters, const Options& options, CountersSource client_counters);

  void connected() override;
  bool on_pdu(const wire::Frame& pdu, std::uint64_t now_ns) override;
  void disconnected() override;
  bool is_ready() const override { return welcomed_; }
  void send_pending(std::uint64_t until, std::uint64_t now_ns) override;
  bool has_settled(std::uint64_t until) const override {
    return in_flight_.empty() || in_flight_.front().first_entry >= until;
  }
  bool has_told_open() const override {
    return welcomed_ &&
           (!agent_has(wire::Feature::InFlight) || (!open_.has_news() && in_flight_.empty()));
  }
  bool say_goodbye() override;

  // The current agent's features; none before its WELCOME.
  bool agent_has(wire::Feature feature) const {
    return welcomed_ && features_.test(wire::number_of(feature));
  }

 private:
  struct Batch {
    std::uint64_t sequence = 0;
    std::uint64_t first_entry = 0;  // Pending's number of its first entry
    std::uint64_t records = 0;
    std::uint64_t first_ns = UINT64_MAX;  // times of its first and last record
    std::uint64_t last_ns = 0;
    std::uint64_t sent_ns = 0;  // last time
    std::string body;
    std::vector<const Tag*> tags;
  };

  // The most unacknowledged batches; later records are merged in Pending.
  static constexpr std::size_t kMaxInFlight = 4;

  // More than a body has room for, since mentions take none: bounds the definitions.
  static constexpr std::size_t kMaxTags = 8192;

  bool take_welcome(const wire::Welcome& welcome, std::uint64_t now_ns);
  bool take_ack(std::uint64_t sequence, std::uint64_t now_ns);
  void give_up_first();
  Batch& add_batch();
  void fill(Batch& batch, std::uint64_t until);
  void send(Batch& batch, std::uint64_t now_ns);
  bool has_forgotten(const wire::Welcome& welcome) const;
  bool welcome_spans(const wire::Welcome& welcome, SpanSender::Agent agent);
  void send_spans(const SpanSender::Pdu& pdu);
  void define_tags(const std::vector<const Tag*>& tags, std::string& out);

  Transport& transport_;
  Pending& pending_;
  OpenReport& open_;
  SpanSender& spans_;
  DeliveryCounters& counters_;
  CountersSource client_counters_;
  wire::Hello hello_;

  std::optional<std::uint64_t> agent_;   // last agent instance
  std::uint64_t last_acknowledged_ = 0;  // sequence, in the session that agent knows
  std::deque<Batch> in_flight_;
  std::uint64_t next_sequence_ = 1;
  std::size_t last_body_bytes_ = 0;  // estimate for the next one

  // State of the current connection.
  bool welcomed_ = false;
  bool has_said_goodbye_ = false;
  std::uint64_t spans_sent_ = 0;  // the last sequence
  wire::FeatureSet features_;
  enum class Defined : std::uint8_t { No, ByName, WithDescription };
  std::vector<Defined> defined_;  // at the tag's id
};

}  // namespace pcp::trace::client
