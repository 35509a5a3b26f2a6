// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the black box of a process that has died, step by step, and then hands over what is in it,
// as if the process had sent it. Transactions that were open become spans until its death. If one
// of them is a reason for a capture, its trace is wanted.
//
// A span that is there twice, because the process was killed between two steps, is taken once.
//
// Thread: the ingest thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "collector/ingest/session.hpp"
#include "collector/ingest/span_intake.hpp"
#include "collector/spans/black_box.hpp"

namespace pcp::trace::agent {

struct DeadProcess {
  wire::SessionId id{};
  std::string user;
  std::uint32_t uid = 0;
  Split split;
  SessionSpans spans;
  std::optional<Instant> died_at{};  // nothing: not known
};

class Recovery {
 public:
  // The limit of what is handed over. The oldest spans that have ended go first.
  static constexpr std::size_t kMostBytes = 16u << 20;

  Recovery(SpanIntake& intake, DeadProcess process, BlackBox box)
      : intake_(intake),
        process_(std::move(process)),
        reader_(std::move(box), process_.spans.last_events,
                process_.died_at
                    ? std::optional<std::uint64_t>(process_.died_at->time_since_epoch().count())
                    : std::nullopt) {}

  // Does a part that takes some milliseconds. False if that was the last one.
  bool go_on();

  std::uint32_t pid() const { return process_.spans.source->pid; }
  bool was_box_torn() const { return reader_.is_ring_torn(); }

 private:
  // The ids of trace and span. An event has no id of its own, so there is more.
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, wire::SpanKind, std::uint64_t,
                         std::uint64_t, std::uint32_t>;
  using Known = std::map<Key, CaptureBits>;
  struct Found {
    StoredSpan span;
    CaptureBits is_sure = 0;
    Known::iterator known;
  };

  static Key key_of(const wire::Span& span);
  static std::size_t bytes_of(const StoredSpan& span);
  void take(const BoxSpan& span);
  void note_reasons(const BoxSpan& span, CaptureBits wanting, CaptureBits perhaps);
  void drop_oldest();
  void want();
  bool hand_some_over();
  void count();
  SendingProcess sender() const { return {process_.uid, process_.user, process_.id}; }

  SpanIntake& intake_;
  DeadProcess process_;
  BoxReader reader_;
  bool is_read_ = false;
  Known known_;
  std::deque<Found> found_;
  std::size_t bytes_ = 0;  // of these
  struct Wanted {
    CaptureBits bits = 0;
    std::uint64_t longest_ns = 0;  // of its reasons
  };
  std::map<std::uint64_t, Wanted> wanted_;  // by the hash of the trace
  struct Counts {
    std::uint64_t handed_over = 0;
    std::uint64_t dropped = 0;
  };
  std::array<Counts, wire::kMaxCaptures> counts_{};  // by bit
};

}  // namespace pcp::trace::agent
