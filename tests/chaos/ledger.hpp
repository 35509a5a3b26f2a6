// SPDX-License-Identifier: LGPL-2.1-or-later
// The account that a schedule's programs keep of their calls. In memory shared with the judge, so
// it survives a killed program.
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

// Tags of one client: common ones of its threads (the last ones are for transactions that monitors
// may capture, and for those inside them), two for each forked child, and one for the program that
// it executes.
inline constexpr std::size_t kPlainTags = 5;
inline constexpr std::size_t kFirstAskedTag = kPlainTags;
inline constexpr std::size_t kAskedTags = 4;
inline constexpr std::size_t kWhole = kAskedTags - 1;  // of requests that cross processes
inline constexpr std::size_t kInnerTag = kFirstAskedTag + kAskedTags;
inline constexpr std::size_t kCommonTags = kInnerTag + 1;
inline constexpr std::size_t kFirstKidTag = kCommonTags;
inline constexpr std::size_t kKidTags = 2;  // the first asked tag's filter takes the second
inline constexpr std::size_t kExecTag = kFirstKidTag + kMaxKids * kKidTags;
inline constexpr std::size_t kTags = kExecTag + 1;

inline std::string tag_name(std::size_t client, std::size_t tag) {
  std::string name = "client " + std::to_string(client) + " tag " + std::to_string(tag);
  if (tag == 1) name.resize(kMaxTagLength, '.');
  const bool is_kids = tag >= kFirstKidTag && tag < kExecTag;
  if (is_kids && (tag - kFirstKidTag) % kKidTags == 1) name += " asked 0";
  if (tag >= kFirstAskedTag && tag < kInnerTag)
    name += " asked " + std::to_string(tag - kFirstAskedTag);
  return name;
}
inline std::string asked_filter(std::size_t asked) {
  return "tag=\"client * asked " + std::to_string(asked) + '"';
}

// The threads add to these tags' counters, and set the counters of the other tags.
inline bool is_added_to(std::size_t tag) { return tag % 2 == 1; }

// Calls, and the sum of their values: only of observations and increments, whole numbers, so that
// sums are exact in any order.
struct Amount {
  std::uint64_t count = 0;
  std::uint64_t aborts = 0;
  std::uint64_t sum = 0;

  bool operator==(const Amount&) const = default;
  bool within(const Amount& most) const {
    return count <= most.count && aborts <= most.aborts && sum <= most.sum;
  }
  void add(const Amount& more) {
    count += more.count;
    aborts += more.aborts;
    sum += more.sum;
  }
};

struct Numbers {
  std::atomic<std::uint64_t> count{0};
  std::atomic<std::uint64_t> aborts{0};
  std::atomic<std::uint64_t> sum{0};

  operator Amount() const { return {count, aborts, sum}; }
  void add(const Amount& more) {
    count += more.count;
    aborts += more.aborts;
    sum += more.sum;
  }
  void set(const Amount& amount) {
    count = amount.count;
    aborts = amount.aborts;
    sum = amount.sum;
  }
};

// The calls of one tag and type. A call is in `begun` before it is made, in `done` after it has
// returned, and in `covered` once the agent has acknowledged it.
struct Cell {
  Numbers begun;
  Numbers done;
  Numbers covered;
};

// The last report of a process that ends in order.
struct Report {
  std::atomic<bool> given{false};
  bool flushed = false;
  pmtrace_stats_t stats{};
};

// A captured transaction. Its thread writes the id, which is not 0, last.
struct SpanEntry {
  std::atomic<std::uint64_t> id{0};
  std::uint64_t parent = 0;
  std::uint64_t trace = 0;   // the low half
  std::uint8_t asked = 0;    // which asked tag its top has
  std::uint8_t process = 0;  // 0: the client, then its children
  std::atomic<bool> has_failed{false};
  std::atomic<bool> has_ended{false};
};

// Transactions of one process and one asked tag that were not captured: by threads that knew of the
// capture, and by those that may not have known yet.
struct NotCaptured {
  std::atomic<std::uint64_t> knowing{0};
  std::atomic<std::uint64_t> perhaps{0};
};

struct SpanLedger {
  static constexpr std::size_t kMost = 1u << 15;
  std::atomic<std::uint32_t> used{0};  // entries; may exceed kMost
  std::array<SpanEntry, kMost> entries;
  std::array<std::array<NotCaptured, kAskedTags>, 1 + kMaxKids> not_captured;
};

struct Account {
  std::atomic<bool> is_leaving{false};                // about to end by another fate than Finish
  std::atomic<std::uint32_t> round{0};                // agent restarts that it has answered
  std::atomic<std::uint64_t> acknowledged_before{0};  // calls, by all agents but the last
  std::atomic<std::uint64_t> longest_call_ns{0};
  std::atomic<std::uint64_t> longest_wait_ns{0};  // of calls that gave up the CPU
  std::atomic<std::uint32_t> kids{0};
  Report report;
  std::array<Report, kMaxKids> kid_reports;
  std::array<std::array<Cell, kTraceTypes.size()>, kTags> cells;
  SpanLedger spans;

  Cell& cell(std::size_t tag, TraceType type) { return cells[tag][index_of(type)]; }
};

// The headers of a transaction that was open once. A process may be killed while it writes: then
// nobody uses this any more.
class Headers {
 public:
  using Text = std::array<char, PMTRACE_CONTEXT_SIZE>;

  void write(const Text& text) {
    std::uint32_t version = version_;
    if (version % 2 == 1 || !version_.compare_exchange_strong(version, version + 1)) return;
    for (std::size_t i = 0; i < text.size(); ++i) text_[i] = text[i];
    version_ = version + 2;
  }
  // Empty if there are none.
  Text read() const {
    Text text{};
    const std::uint32_t version = version_;
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = text_[i];
    return version % 2 == 1 || version_ != version ? Text{} : text;
  }

 private:
  std::atomic<std::uint32_t> version_{0};  // odd: somebody writes
  std::array<std::atomic<char>, std::tuple_size_v<Text>> text_{};
};

struct Ledger {
  static constexpr std::size_t kHeaders = 8;
  std::array<Headers, kHeaders> headers;

  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> round{0};
  std::array<Account, kMaxClients> accounts;
};

}  // namespace pcp::trace::chaos
