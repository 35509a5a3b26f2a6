// SPDX-License-Identifier: LGPL-2.1-or-later
// Tells processes what to capture, and takes what they have captured: each EVENTS once, and of it
// only what its process may have been asked for.
//
// Thread: the ingest thread's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "collector/ingest/peer.hpp"
#include "collector/ingest/session.hpp"
#include "collector/ingest/tag_finder.hpp"
#include "collector/spans/spans.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::agent {

class SpanIntake {
 public:
  SpanIntake(Spans& spans, TagFinder& finder);

  // A session begins, or goes on, with a process that says HELLO.
  void begin(Session& session, const wire::Hello& hello, const Peer& peer);

  // What a session is to be told now; nothing if it knows all. The second one is for the WELCOME,
  // which tells it all once more.
  std::optional<wire::Control> news_for(Session& session, const Peer& peer);
  std::optional<wire::Control> control_for(Session& session, const Peer& peer);

  // False if the PDU is of captures that the session was not told of. Requires: it knows the tags.
  bool take(const wire::Events& events, Session& session, const Peer& peer);

  // What must be done now and then. True if there is more to do.
  bool look(Time now);

  // Captures have changed since the last call.
  bool has_changed();

 private:
  const Captures& captures();
  wire::Control make_control(Session& session, Places seen);
  StoredSpan stored(const wire::Span& span, Session& session);
  const std::shared_ptr<const std::string>& tag_text(std::uint32_t id, Session& session);
  void note(const wire::CaptureCount& count, Session& session, const Peer& peer);
  void note_sender(Session& session);

  Spans& spans_;
  TagFinder& finder_;
  std::shared_ptr<const Captures> captures_;
  std::uint64_t looked_at_ = 0;    // number of the captures, in has_changed()
  std::vector<StoredSpan> taken_;  // kept, so that taking them allocates less

  // Sessions that have sent spans, in this round and the one before.
  std::uint64_t round_ = 1;
  Time round_began_{};
  std::uint32_t senders_ = 0;
  std::uint32_t senders_before_ = 0;
};

}  // namespace pcp::trace::agent
