// SPDX-License-Identifier: LGPL-2.1-or-later
// Handles one peer's PDUs: the answers, and the values for the engine. The first PDU decides the
// version: 1 (DATA, from the stock library) or 2 (HELLO). No socket here.
//
// Thread: the ingest thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "collector/ingest/black_boxes.hpp"
#include "collector/ingest/ingest_options.hpp"
#include "collector/ingest/limited_log.hpp"
#include "collector/ingest/origin_store.hpp"
#include "collector/ingest/peer.hpp"
#include "collector/ingest/session_table.hpp"
#include "collector/ingest/span_intake.hpp"
#include "collector/ingest/split.hpp"
#include "collector/ingest/tag_finder.hpp"
#include "collector/ingest/turn.hpp"
#include "wire/batch.hpp"
#include "wire/frame.hpp"

namespace pcp::trace::agent {

// Shared by the dialogues of all peers.
struct DialogueContext {
  Shared& shared;
  const IngestOptions& options;
  LimitedLog log;
  TagFinder tag_finder{shared.counters.unsplit};
  SpanIntake spans{shared.spans, tag_finder, options.max_spans_a_second};
  BlackBoxes boxes{spans, shared.counters, log};
  SessionTable sessions{options, tag_finder, boxes, shared.counters};
  OriginStore origins{options, shared.counters.labels_refused};
  std::uint64_t agent_instance = 0;
  std::uint32_t pid = 0;                                // the agent's, for PDU headers
  std::function<void(std::uint64_t)> end_connection{};  // another one resumed its session
  wire::Batch batch{};                                  // kept, so that decoding allocates nothing
  wire::Events events{};                                // kept, too
  std::vector<SessionTag*> tags{};                      // of the batch's entries; kept, too
  std::vector<wire::TagDefinition> definitions{};       // kept, too
};

class Dialogue {
 public:
  Dialogue(DialogueContext& context, const Peer& peer) : context_(context), peer_(peer) {}

  // The reason to end a connection. Done: the peer sent BYE.
  struct Ending {
    wire::ByeReason reason{};
    std::string why;
  };

  // Appends the agent's first PDU.
  void greet(std::string& out) const;

  // Handles one PDU and appends the answer. Gives an Ending if the connection must end.
  std::optional<Ending> on_frame(const wire::Frame& frame, Turn& turn, std::string& out);

  // The peer has sent a descriptor. Requires: no turn is locked.
  void take_descriptor(Descriptor descriptor) {
    context_.boxes.take(session_, std::move(descriptor), peer_);
  }

  // The connection ends: the session is remembered for a while, the client is no longer shown.
  void close(Instant now);

  // Appends a CONTROL if the process lacks the latest captures, and the traces that processes want.
  // False if there is no news.
  bool append_control(std::string& out);

  // Appends a BYE if the peer speaks version 2.
  void bye(std::string& out, wire::ByeReason reason) const;

  bool has_begun() const { return speaks_ != Speaks::Nothing; }
  bool is_version_2() const { return speaks_ == Speaks::Version2; }
  std::size_t max_pdu_bytes() const;

  // For the list of clients: a description of the process.
  std::string describe() const;

 private:
  enum class Speaks { Nothing, Version1, Version2 };

  std::optional<Ending> on_data(const wire::Frame& frame, Turn& turn, std::string& out);
  std::optional<Ending> on_hello(const wire::Frame& frame, Turn& turn, std::string& out);
  std::optional<Ending> on_tags(const wire::Frame& frame, Turn& turn);
  std::optional<Ending> on_batch(const wire::Frame& frame, Turn& turn, std::string& out);
  std::optional<Ending> on_events(const wire::Frame& frame, Turn& turn, std::string& out);
  std::optional<Ending> on_bye(const wire::Frame& frame, Turn& turn);
  bool take_over(const std::string& user, const wire::SessionId& id, Turn& turn);
  void show_client(std::uint32_t pid, Turn& turn);
  void apply(const wire::DeltaEntry& entry, SessionTag& tag, Turn& turn);
  void describe(const wire::TagDefinition& definition, Turn& turn);
  void say_disagreement(const SessionTag& tag, Turn& turn);

  DialogueContext& context_;
  const Peer& peer_;
  Speaks speaks_ = Speaks::Nothing;
  Split split_;                 // version 1
  Session* session_ = nullptr;  // version 2
  std::string process_;         // version 2
};

}  // namespace pcp::trace::agent
