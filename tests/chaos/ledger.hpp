// SPDX-License-Identifier: LGPL-2.1-or-later
// What the programs of a schedule say that they did, in memory that they share with whoever judges
// them: it survives a program that is killed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "pcp/trace.h"
#include "wire/trace_type.hpp"

namespace pcp::trace::chaos {

inline constexpr std::size_t kMaxClients = 8;
inline constexpr std::size_t kMaxKids = 2;

// Tags of one client: its threads' common ones, one for each forked child, one for the program
// that it executes.
inline constexpr std::size_t kCommonTags = 5;
inline constexpr std::size_t kFirstKidTag = kCommonTags;
inline constexpr std::size_t kExecTag = kFirstKidTag + kMaxKids;
inline constexpr std::size_t kTags = kExecTag + 1;

inline std::string tag_name(std::size_t client, std::size_t tag) {
  std::string name = "client " + std::to_string(client) + " tag " + std::to_string(tag);
  if (tag == 1) name.resize(kMaxTagLength, '.');
  return name;
}

// The threads add to these tags' counters, and set those of the others.
inline bool is_added_to(std::size_t tag) { return tag % 2 == 1; }

// Values are whole numbers, so that their sums are exact in whatever order they are added.
struct Numbers {
  std::atomic<std::uint64_t> count{0};
  std::atomic<std::uint64_t> aborts{0};
  std::atomic<std::uint64_t> sum{0};
};

// Of one tag and type. A call is in `begun` before it is made and in `done` after it has returned;
// it is in `covered` when the agent has acknowledged it.
struct Cell {
  Numbers begun;
  Numbers done;
  Numbers covered;
};

// The last words of a process that ends in order.
struct Report {
  std::atomic<bool> given{false};
  bool flushed = false;
  pmtrace_stats_t stats{};
};

struct Account {
  std::atomic<bool> is_leaving{false};                // about to end in some other way
  std::atomic<std::uint32_t> round{0};                // restarts of the agent that it has answered
  std::atomic<std::uint64_t> acknowledged_before{0};  // calls, by the agents before the last one
  std::atomic<std::uint64_t> longest_call_ns{0};
  std::atomic<std::uint64_t> longest_wait_ns{0};  // of calls among which the thread gave up its CPU
  std::atomic<std::uint32_t> kids{0};
  Report report;
  std::array<Report, kMaxKids> kid_reports;
  std::array<std::array<Cell, kTraceTypes.size()>, kTags> cells;

  Cell& cell(std::size_t tag, TraceType type) { return cells[tag][index_of(type)]; }
};

struct Ledger {
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> round{0};
  std::array<Account, kMaxClients> accounts;
};

}  // namespace pcp::trace::chaos
