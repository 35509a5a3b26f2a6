// SPDX-License-Identifier: LGPL-2.1-or-later
// The state flags of pmtracestate, and what the environment forces upon them. One relaxed load
// tells a call whether anything out of the ordinary is wanted.
#pragma once

#include <atomic>
#include <climits>

#include "pcp/trace.h"

namespace pcp::trace::client {

// As the program set them, plus what the environment demands. Each flag stands for itself,
// so relaxed accesses will do.
inline constinit std::atomic<int> state_flags{PMTRACE_STATE_NONE};

inline constexpr int kDiagnosticFlags =
    PMTRACE_STATE_API | PMTRACE_STATE_COMMS | PMTRACE_STATE_PDU | PMTRACE_STATE_PDUBUF;

inline bool has_state(int flags) {
  return (state_flags.load(std::memory_order_relaxed) & flags) != 0;
}

// Ours, of no concern to the program: while something is captured, and where what is in no trace
// begins one, also while tracing is switched off.
inline constexpr int kCapturing = 1 << 29;
inline constexpr int kMakesIds = 1 << 28;
inline constexpr int kOwnFlags = kCapturing | kMakesIds;

// The sign of the flags is set, by us, while a call has nothing to do at all: no agent, nothing to
// print and no ids to make. So one load and a branch tell it.
inline constexpr int kSwitchedOff = INT_MIN;

inline int with_sign(int flags) {
  flags &= ~kSwitchedOff;
  constexpr int kConcerned = kDiagnosticFlags | PMTRACE_STATE_NOAGENT | kMakesIds;
  return (flags & kConcerned) == PMTRACE_STATE_NOAGENT ? flags | kSwitchedOff : flags;
}

inline bool is_switched_off() { return state_flags.load(std::memory_order_relaxed) < 0; }

// Whether a call has nothing to do but to record. A transaction is captured before that, where it
// ends.
inline bool only_records() {
  constexpr int kOfNoConcern = PMTRACE_STATE_ASYNC | kMakesIds;
  return (state_flags.load(std::memory_order_relaxed) & ~kOfNoConcern) == 0;
}
inline bool only_records_transactions() {
  constexpr int kOfNoConcern = PMTRACE_STATE_ASYNC | kOwnFlags;
  return (state_flags.load(std::memory_order_relaxed) & ~kOfNoConcern) == 0;
}

// Gives the flags before. Thread: any.
inline int replace_state(int flags) {
  int before = state_flags.load(std::memory_order_relaxed);
  while (!state_flags.compare_exchange_weak(
      before, with_sign((flags & ~kOwnFlags) | (before & kOwnFlags)), std::memory_order_relaxed)) {
  }
  return before & ~(kSwitchedOff | kOwnFlags);
}
inline void set_capturing(bool is_capturing) {
  if (is_capturing)
    state_flags.fetch_or(kCapturing, std::memory_order_relaxed);
  else
    state_flags.fetch_and(~kCapturing, std::memory_order_relaxed);
}
inline void add_state(int flags) {
  int before = state_flags.load(std::memory_order_relaxed);
  while (!state_flags.compare_exchange_weak(before, with_sign(before | flags),
                                            std::memory_order_relaxed)) {
  }
}

}  // namespace pcp::trace::client
