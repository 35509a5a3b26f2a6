// SPDX-License-Identifier: LGPL-2.1-or-later
// The environment of a traced program, read once and validated.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pcp/trace.h"
#include "wire/defaults.hpp"

namespace pcp::trace::client {

// The first word of the MMV metrics' names, set by pmtrace_mmv() before the first call; null:
// PCP_TRACE_MMV decides. Never freed. Released by pmtrace_mmv(), acquired by the options.
inline std::atomic<const char*> mmv_name{nullptr};

// True for part of a PCP metric's name that is no longer than 64 bytes.
inline bool is_mmv_name(std::string_view name) {
  constexpr std::size_t kLongest = 64;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !name.empty() && name.size() <= kLongest && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

// Default of the service instead of the program's name; null: none. Set before the first call by
// the bindings of Java and Python, whose programs are always "java" and "python3". Python's finds
// it by dlsym().
extern "C" [[gnu::visibility("default")]] const char* pcp_trace_default_service;

// The pid in every PDU's header.
inline std::uint32_t own_pid() { return static_cast<std::uint32_t>(::getpid()); }

struct ClientOptions {
  // Where the agent is. socket_only: nothing else is tried.
  std::string socket_path;            // PCP_TRACE_SOCKET, else the agent's usual one, if any
  bool socket_only = false;           // PCP_TRACE_SOCKET is set
  std::string host;                   // PCP_TRACE_HOST; empty: this host
  std::uint16_t port = kDefaultPort;  // PCP_TRACE_PORT
  bool tcp_only = false;              // PCP_TRACE_HOST or _PORT is set
  bool has_local_endpoint() const { return socket_only || !tcp_only; }

  std::chrono::nanoseconds connect_timeout = std::chrono::seconds(3);   // PCP_TRACE_TIMEOUT
  std::chrono::nanoseconds request_timeout = std::chrono::seconds(10);  // PCP_TRACE_REQTIMEOUT
  std::chrono::nanoseconds last_patience = std::chrono::seconds(1);     // PCP_TRACE_LINGER
  std::vector<std::chrono::nanoseconds> reconnect_delays;               // PCP_TRACE_RECONNECT
  bool no_agent = false;                                                // PCP_TRACE_NOAGENT

  std::string mmv;  // PCP_TRACE_MMV, or pmtrace_mmv(): the metrics' first word; empty: no file
  std::string mmv_directory;  // where pmdammv looks
  bool mmv_only = false;      // with PCP_TRACE_NOAGENT

  std::chrono::milliseconds flush_interval{100};  // PCP_TRACE_FLUSH, 1 to 60,000
  std::uint32_t queue_capacity = 4096;  // PCP_TRACE_QUEUE, 2 to 1,048,576 records a thread

  std::size_t hold_bytes = 4 << 20;  // PCP_TRACE_HOLD, 64 KiB to 256 MiB; see HeldTraces

  std::string traceparent;  // TRACEPARENT
  std::string tracestate;   // TRACESTATE
  bool always_ids = false;  // PCP_TRACE_IDS: transactions without a trace begin one
  bool notes = true;        // PCP_TRACE_NOTES: off keeps attributes in the process
  std::string capture;      // PCP_TRACE_CAPTURE, a canonical filter; empty: none

  // Diagnostics that are always on, and their file. PCP_TRACE_DEBUG
  int debug_flags = PMTRACE_STATE_NONE;
  std::string debug_file;  // empty: standard error

  // State flags forced by the environment.
  int demanded_state() const { return debug_flags | (no_agent ? PMTRACE_STATE_NOAGENT : 0); }

  // The process's description. It fits an agent's limits.
  std::string process;  // the program's name
  std::string service;  // PCP_TRACE_SERVICE, else the program's name
  std::vector<std::pair<std::string, std::string>> labels;  // PCP_TRACE_LABELS, and the rank
};

// Reads one variable; null if unset.
using Environment = std::function<const char*(const char* name)>;

// Gives options. Malformed values become defaults; malformed labels and excess text are dropped.
// `complain` gets one line for each.
ClientOptions read_environment(const Environment& environment,
                               const std::function<void(const std::string&)>& complain);

}  // namespace pcp::trace::client
