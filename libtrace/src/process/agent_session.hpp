// SPDX-License-Identifier: LGPL-2.1-or-later
// The process's session with an agent of version 2, kept over connections. Introduces the process,
// defines tags, and sends two kinds of numbered messages: batches and captured spans. Their owners
// decide what is sent again. The transactions in flight and the library's counters ride in the
// heads of batches: made afresh each time a batch is sent, and told again to a new agent.
//
// Bytes for the agent are appended to `out`. If there is no memory for them, end the connection:
// what was not acknowledged is sent again on the next one.
//
// Thread: the flusher's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "counts/batches.hpp"
#include "link/client_options.hpp"
#include "process/outbox.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::client {

class AgentSession {
 public:
  AgentSession(Outbox& outbox, const ClientOptions& options);

  // The greeting named this protocol's version. now_ns: the present time, also below.
  void on_connected(std::string& out);
  void on_disconnected(std::uint64_t now_ns);

  // False if malformed.
  bool on_pdu(const wire::Frame& pdu, std::uint64_t now_ns, std::string& out);
  bool is_ready() const { return welcomed_; }  // deltas may be sent

  // Sends Pending's entries before number `until`, as fast as the agent keeps up.
  void send_pending(std::uint64_t until, std::uint64_t now_ns, std::string& out);

  // True if all entries taken before number `until` are settled: acknowledged, or given up and
  // counted.
  bool has_settled(std::uint64_t until) const { return batches_.has_settled(until); }

  // True if the agent knows the transactions in flight, or cannot take them.
  bool has_told_open() const;

  // The black box, once on a connection: pass it to the agent with the next bytes. Null: none.
  const OwnDescriptor* box_to_pass();

  // Says that nothing more comes on this connection. False: it cannot be said, or was said before.
  bool say_goodbye(std::string& out);

  // The current agent's features; none before its WELCOME.
  bool has_feature(wire::Feature feature) const {
    return welcomed_ && features_.test(wire::number_of(feature));
  }

 private:
  bool on_welcome(const wire::Welcome& welcome, std::uint64_t now_ns, std::string& out);
  bool on_batch_ack(std::uint64_t sequence, std::uint64_t now_ns);
  bool has_forgotten(const wire::Welcome& welcome) const;
  bool was_sent(const Numbered& message) const { return message.nth_sent > sent_before_; }
  void give_up_malformed();
  void send_new(CountBatch& batch, std::uint64_t now_ns, std::string& out);
  void send(CountBatch& batch, std::uint64_t now_ns, std::string& out);
  void send(SpanBatch& spans, std::string& out);
  void define_tags(const std::vector<const Tag*>& tags, std::string& out);

  Outbox& outbox_;
  Batches batches_;
  wire::Hello hello_;
  std::optional<std::uint64_t> agent_;  // last agent instance
  std::uint64_t sent_ = 0;              // batches and EVENTS ever sent

  // State of the current connection.
  bool welcomed_ = false;
  bool has_said_goodbye_ = false;
  bool has_passed_box_ = false;
  std::uint64_t sent_before_ = 0;  // sent_ when it began
  wire::FeatureSet features_;
  enum class Defined : std::uint8_t { No, ByName, WithDescription };
  std::vector<Defined> defined_;  // at the tag's id
};

}  // namespace pcp::trace::client
