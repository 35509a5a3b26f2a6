// SPDX-License-Identifier: LGPL-2.1-or-later
// The state flags of pmtracestate, and those that the environment forces. One relaxed load tells a
// call whether it has anything unusual to do.
#pragma once

#include <atomic>
#include <climits>

#include "pcp/trace.h"

namespace pcp::trace::client {

// The program's flags, plus the environment's. Flags are independent of each other and of other
// data, so relaxed accesses suffice.
inline constinit std::atomic<int> state_flags{PMTRACE_STATE_NONE};

inline constexpr int kDiagnosticFlags =
    PMTRACE_STATE_API | PMTRACE_STATE_COMMS | PMTRACE_STATE_PDU | PMTRACE_STATE_PDUBUF;

inline bool has_state(int flags) {
  return (state_flags.load(std::memory_order_relaxed) & flags) != 0;
}

// Internal flags, hidden from the program. kCapturing: something is captured. kMakesIds: a
// transaction without a trace begins one, even while tracing is switched off.
inline constexpr int kCapturing = 1 << 29;
inline constexpr int kMakesIds = 1 << 28;
inline constexpr int kOwnFlags = kCapturing | kMakesIds;

// The sign bit is set while a call has nothing to do at all: no agent, nothing to print and no ids
// to make. So one load and a branch tell it.
inline constexpr int kSwitchedOff = INT_MIN;

inline int with_sign(int flags) {
  flags &= ~kSwitchedOff;
  constexpr int kConcerned = kDiagnosticFlags | PMTRACE_STATE_NOAGENT | kMakesIds;
  return (flags & kConcerned) == PMTRACE_STATE_NOAGENT ? flags | kSwitchedOff : flags;
}

inline bool is_switched_off() { return state_flags.load(std::memory_order_relaxed) < 0; }

// True if a call only has to record. The transaction variant ignores kCapturing, since end_traced()
// captures before the call records.
inline bool is_only_recording() {
  constexpr int kOfNoConcern = PMTRACE_STATE_ASYNC | kMakesIds;
  return (state_flags.load(std::memory_order_relaxed) & ~kOfNoConcern) == 0;
}
inline bool is_only_recording_transactions() {
  constexpr int kOfNoConcern = PMTRACE_STATE_ASYNC | kOwnFlags;
  return (state_flags.load(std::memory_order_relaxed) & ~kOfNoConcern) == 0;
}

// Gives the previous flags. Thread: any.
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
