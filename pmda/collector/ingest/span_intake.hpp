// SPDX-License-Identifier: LGPL-2.1-or-later
// Tells processes what to capture, and takes their captured spans: each EVENTS once, and only spans
// of captures that the process may know.
//
// Thread: the ingest thread.
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

#include "base/keyed_hash.hpp"
#include "collector/ingest/peer.hpp"
#include "collector/ingest/session.hpp"
#include "collector/ingest/tag_finder.hpp"
#include "collector/spans/shared_spans.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::agent {

class SpanIntake {
 public:
  static constexpr std::uint32_t kMostWantedOfAUser = 1'000;  // traces, in a round

  SpanIntake(SharedSpans& spans, TagFinder& finder, std::uint32_t most_a_second);

  // A session begins or resumes with a HELLO.
  void introduce(Session& session, const wire::Hello& hello, const Peer& peer);

  // The session has lost its connection, and may return.
  static void detach(Session& session) { session.spans.source.reset(); }

  // The CONTROL for a session; nothing if there is no news. control_for() is for the WELCOME, and
  // tells everything again.
  std::optional<wire::Control> news_for(Session& session, const Peer& peer);
  std::optional<wire::Control> control_for(Session& session, const Peer& peer);

  // Appends the PDUs of traces that processes want, of those that the session was not told yet.
  void append_wanted(std::string& out, std::uint32_t pid, Session& session, const Peer& peer);

  // Returns the impossible part of the PDU; nothing if there is none. Requires: the session knows
  // the tags.
  std::optional<std::string> accept(const wire::Events& events, Session& session, const Peer& peer);

  // For what is not in EVENTS, too (Recovery): a span as it is stored; traces that a process wants
  // which knows captures up to `control`; spans of captures that want them, and of others; counts.
  // False if the counts are impossible.
  StoredSpan stored(const wire::Span& span, std::string_view tag, const Split& split,
                    const std::shared_ptr<const SpanSource>& source);
  void want(const std::vector<wire::WantedTrace>& traces, std::uint64_t control,
            const SendingProcess& process);
  void hand_over(std::vector<StoredSpan>& taken, std::vector<StoredSpan>& held,
                 std::uint64_t control, const SendingProcess& process);
  bool note(const wire::CaptureCount& count, SessionSpans& its, const SendingProcess& process);
  const CaptureTable& captures();

  // Periodic work. True if there is more to do.
  bool tick(Instant now);

  // True if the captures, the wanted traces, or the limits of spans per process, changed since the
  // last call.
  bool has_changed();

 private:
  wire::Control make_control(Session& session, CaptureBits seen);
  const std::shared_ptr<const std::string>& shown(std::string_view tag);
  void note_missed(std::size_t bit, std::uint64_t traces, MissedCause cause,
                   const std::string& user);
  void share_out(Duration round);
  void set_share(std::uint32_t& share, std::uint32_t whole);
  std::uint32_t most_a_second(const Session& session) const;

  SharedSpans& spans_;
  TagFinder& finder_;
  std::shared_ptr<const CaptureTable> captures_;
  std::uint64_t looked_at_ = 0;  // the captures' number at the last has_changed()
  std::uint64_t wanted_looked_at_ = 0;
  std::vector<StoredSpan> taken_;  // kept, to save allocations
  bool has_taken_some_ = false;    // since the last time without captures

  // Cache of shown tag names, which spans share. Cleared when it grows large.
  struct NameHash {
    using is_transparent = void;
    KeyedHash hash;
    std::size_t operator()(std::string_view name) const { return hash(name, 0); }
  };
  std::unordered_map<std::string, std::shared_ptr<const std::string>, NameHash, std::equal_to<>>
      shown_;

  // A user's sessions in this round, also those that have ended: how many spans each captured or
  // missed for want of a share, for the capture with most of them.
  struct Senders {
    std::map<wire::SessionId, std::uint64_t> wanted;
    std::uint32_t most_a_second = 0;  // limit for each session
    std::uint32_t wanted_traces = 0;
  };
  Senders& senders_of(const std::string& user);
  std::map<std::string, Senders> senders_;  // by user; only users of this round and the last one
  const std::uint32_t most_of_all_;         // a second, of all users together
  std::uint32_t most_of_a_user_;
  bool shares_have_changed_ = false;
  Instant round_began_{};
  std::vector<std::uint64_t> demands_;  // to be met by shares; kept, to save allocations
};

}  // namespace pcp::trace::agent
