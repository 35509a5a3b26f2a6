// The state flags of pmtracestate, and what the environment forces upon them. One relaxed load
// tells a call whether anything out of the ordinary is wanted.
#pragma once

#include <atomic>

#include "pcp/trace.h"

namespace pcp::trace::client {

// As the program set them, plus NOAGENT if the environment demands it. Each flag stands for itself,
// so relaxed accesses will do.
inline constinit std::atomic<int> state_flags{PMTRACE_STATE_NONE};

inline constexpr int kDiagnosticFlags =
    PMTRACE_STATE_API | PMTRACE_STATE_COMMS | PMTRACE_STATE_PDU | PMTRACE_STATE_PDUBUF;

inline bool has_state(int flags) {
  return (state_flags.load(std::memory_order_relaxed) & flags) != 0;
}

// What a call has to do besides recording. Ordinary: nothing, which one load and a branch tell.
enum class CallMode { Ordinary, Special, Off };

inline CallMode call_mode() {
  const int flags = state_flags.load(std::memory_order_relaxed);
  if ((flags & ~PMTRACE_STATE_ASYNC) == 0) [[likely]]
    return CallMode::Ordinary;
  return (flags & (kDiagnosticFlags | PMTRACE_STATE_NOAGENT)) == PMTRACE_STATE_NOAGENT
             ? CallMode::Off
             : CallMode::Special;
}

}  // namespace pcp::trace::client
