// SPDX-License-Identifier: LGPL-2.1-or-later
// Tells processes what to capture, and takes what they have captured: each EVENTS once, and of it
// only what its process may have been asked for.
//
// Thread: the ingest thread's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collector/engine/keyed_hash.hpp"
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

  // It has lost its connection, and may come back.
  static void detach(Session& session) { session.spans.source.reset(); }

  // What a session is to be told now; nothing if it knows all. The second one is for the WELCOME,
  // which tells it all once more.
  std::optional<wire::Control> news_for(Session& session, const Peer& peer);
  std::optional<wire::Control> control_for(Session& session, const Peer& peer);

  // Nothing, or what of the PDU cannot be true. Requires: the session knows the tags.
  std::optional<std::string> take(const wire::Events& events, Session& session, const Peer& peer);

  // What must be done now and then. True if there is more to do.
  bool look(Time now);

  // Captures have changed since the last call, or how many spans a process may send.
  bool has_changed();

 private:
  const Captures& captures();
  wire::Control make_control(Session& session, Places seen);
  StoredSpan stored(const wire::Span& span, Session& session);
  const std::shared_ptr<const std::string>& shown(std::string_view tag);
  bool note(const wire::CaptureCount& count, Session& session, const Peer& peer);
  void note_sender(Session& session);
  void share_out();
  std::uint32_t most_a_second(const Session& session) const;

  Spans& spans_;
  TagFinder& finder_;
  std::shared_ptr<const Captures> captures_;
  std::uint64_t looked_at_ = 0;    // number of the captures, in has_changed()
  std::vector<StoredSpan> taken_;  // kept, so that taking them allocates less
  bool has_taken_some_ = false;    // since nothing was captured

  // Tags as they are shown, which spans share; not of all, if there are many.
  struct NameHash {
    using is_transparent = void;
    KeyedHash hash;
    std::size_t operator()(std::string_view name) const { return hash(name, 0); }
  };
  std::unordered_map<std::string, std::shared_ptr<const std::string>, NameHash, std::equal_to<>>
      shown_;

  // How many of a user's sessions have sent spans in this round, and in the one before.
  struct Senders {
    std::uint32_t now = 0;
    std::uint32_t before = 0;
    std::uint32_t most_a_second = 0;  // that each of them may send
  };
  std::map<std::string, Senders> senders_;  // by user; without those who have sent none
  std::uint32_t most_of_a_user_;
  bool shares_have_changed_ = false;
  std::uint64_t round_ = 1;
  Time round_began_{};
};

}  // namespace pcp::trace::agent
