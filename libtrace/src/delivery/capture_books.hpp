// SPDX-License-Identifier: LGPL-2.1-or-later
// The books of what is captured: for each capture that is asked for, how many spans there were and
// what became of those that the agent does not get; and for each set of captures that spans on
// their way may be of, which captures its places stood for.
//
// Thread: the flusher's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "record/captures.hpp"
#include "record/span_queue.hpp"
#include "wire/events.hpp"

namespace pcp::trace::client {

class CaptureBooks {
 public:
  explicit CaptureBooks(Captures& captures) : captures_(captures) {}

  // The id of the capture of PCP_TRACE_CAPTURE, until an agent has given it another.
  static constexpr std::uint64_t kFromStart = UINT64_MAX;

  // A set is published, or about to be. One that is told again, as each connection does, is the
  // same, of several epochs.
  struct Set {
    CaptureSet::Epoch first;
    CaptureSet::Epoch last;
    std::uint64_t control;  // the agent's number
    std::array<std::uint64_t, wire::kMaxCaptures> ids;
  };
  void note(const CaptureSet& set);

  // Which one a span is of; null: nobody asks any more.
  const Set* set_of(const CapturedSpan& span) const;

  // Makes an account for what is asked for, unless there is one.
  void open(std::uint64_t id);
  bool has(std::uint64_t id) const;

  // Closes all accounts but those of this set's captures; null: all.
  void keep_only(const CaptureSet* set);

  // Closes all, and forgets the sets, too: what threads still make of these is another agent's,
  // whose ids and numbers are not the next one's.
  void forget_all();

  // What was captured from the start on is this capture of an agent's.
  void adopt_start(const wire::Capture& capture, std::uint64_t control);
  void forget_start();

  // Whether what is published has this capture there.
  bool is_same(std::size_t place, std::uint64_t id) const;

  enum class Outcome { Sent, OverLimit, WaitedTooLong, Away };
  void count(const CapturedSpan& span, Outcome outcome);

  // The agent has taken all that it was told; or it has forgotten this process, with what it took
  // of it, and perhaps so many spans that were sent: it is told the rest as if that began now.
  using Numbers = std::array<std::uint64_t, wire::kMaxCaptures>;  // by place
  void note_taken();
  void note_forgotten(std::uint64_t control, const Numbers& sent);

  // Takes over the counts of sets that no thread looks at any more.
  void retire();

  // Appends those of which the agent has not been told yet, and takes them for told.
  void tell(std::vector<wire::CaptureCount>& counts);

 private:
  struct Account {
    std::uint64_t id = 0;
    std::uint64_t captured = 0;
    std::uint64_t missed_full = 0;  // of sets that nobody looks at, as is the next
    std::uint64_t missed_limit = 0;
    std::uint64_t missed_waiting = 0;
    std::uint64_t missed_away = 0;
    wire::CaptureCount told{};
    wire::CaptureCount taken{};
    wire::CaptureCount forgotten{};  // taken by an agent that does not know it any more
  };

  Account* find(std::uint64_t id);
  std::uint64_t id_of(const CaptureSet::Asked& asked) const;
  wire::CaptureCount count_of(const Account& account) const;

  Captures& captures_;
  std::vector<Account> accounts_;
  std::deque<Set> sets_;                 // the last one is the present one
  std::uint64_t start_id_ = kFromStart;  // what kFromStart stands for
};

}  // namespace pcp::trace::client
