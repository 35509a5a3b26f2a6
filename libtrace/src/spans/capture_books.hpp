// SPDX-License-Identifier: LGPL-2.1-or-later
// Bookkeeping of captures. Per capture: how many spans there were, and why the agent does not get
// some. Per published set: which capture each bit meant, since spans of older sets may still
// be queued.
//
// Thread: the flusher's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "spans/capture_set.hpp"
#include "wire/events.hpp"

namespace pcp::trace::client {

class CaptureBooks {
 public:
  explicit CaptureBooks(PublishedCaptures& captures) : captures_(captures) {}

  // The id of PCP_TRACE_CAPTURE's capture until an agent gives its own.
  static constexpr std::uint64_t kFromStart = UINT64_MAX;

  // Notes a published set. A set that is repeated on another connection extends the last one over
  // several epochs.
  struct Set {
    CaptureSet::Epoch first;
    CaptureSet::Epoch last;
    std::uint64_t control;  // the agent's number
    std::array<std::uint64_t, wire::kMaxCaptures> ids;
  };
  void note(const CaptureSet& set);

  // The set to which a span of this epoch (its low half) belongs; null: dropped since.
  const Set* set_of(std::uint16_t epoch) const;

  // Gives where to count what this capture misses: one place for all sets with it. Opens an
  // account, which counts where this set does, if there is none.
  std::shared_ptr<wire::box::Missed> open(const CaptureSet::Capture& asked);

  // Closes all accounts but those of this set's captures; null: closes all.
  void keep_only(const CaptureSet* set);

  // Closes all accounts and forgets the sets, too: later spans of these sets belong to another
  // agent, whose ids are unrelated.
  void forget_all();

  // The capture of PCP_TRACE_CAPTURE gets this id from the agent.
  void adopt_start(const wire::Capture& capture, std::uint64_t control);
  void forget_start();

  // True if this bit means this capture in the published set.
  bool is_same(std::size_t bit, std::uint64_t id) const;

  // A span of this epoch (its low half) has this outcome for these captures.
  enum class Outcome { Sent, NoRoom, OverLimit, WaitedTooLong, Away };
  void count(std::uint16_t epoch, CaptureBits bits, Outcome outcome);

  // The agent has taken all counts that were sent.
  void note_taken();

  // Counts these spans as missed, because the agent may not have received them, and sends the last
  // counts again.
  using SpanCounts = std::array<std::uint64_t, wire::kMaxCaptures>;  // by bit
  void note_lost(std::uint64_t control, const SpanCounts& spans);

  // The agent forgot this process: its counts begin at zero again.
  void note_forgotten();

  // Appends the counts that changed since the last call. Requires: room for size() counts.
  std::size_t size() const { return accounts_.size(); }
  void tell(std::vector<wire::CaptureCount>& counts);

 private:
  struct Account {
    std::uint64_t id = 0;
    std::shared_ptr<wire::box::Missed> missed;  // also threads count there
    std::uint64_t sent = 0;
    wire::CaptureCount told{};
    wire::CaptureCount taken{};
  };

  Account* find(std::uint64_t id);
  std::uint64_t id_of(const CaptureSet::Capture& asked) const;
  wire::CaptureCount count_of(const Account& account) const;

  PublishedCaptures& captures_;
  std::vector<Account> accounts_;
  std::deque<Set> sets_;                 // the last one is current
  std::uint64_t start_id_ = kFromStart;  // current id for kFromStart
};

}  // namespace pcp::trace::client
