// SPDX-License-Identifier: LGPL-2.1-or-later
// All that a program has counted since its start, for its MMV file: one instance for each tag and
// type. Fed by the drain, beside Pending.
//
// Thread: the flusher's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "counts/overflow.hpp"
#include "counts/pending.hpp"
#include "counts/queue_record.hpp"
#include "link/output.hpp"
#include "mmv/mmv_window.hpp"
#include "open/open_report.hpp"
#include "wire/delta.hpp"

namespace pcp::trace::client {

struct MmvValues {
  Delta since_start;
  MmvWindow window;
  MmvWindow::Values in_window;  // as last computed
};

struct MmvInstance {
  const Tag* tag = nullptr;  // null: all tags beyond kMostInstances
  TraceType type{};
  MmvValues calls;         // completed ones
  MmvValues failed;        // transactions that failed
  Delta added;             // a counter's increments, since the start
  std::uint64_t open = 0;  // transactions in flight
  double oldest_s = 0;
  std::uint64_t open_seen = 0;  // the look at which `open` was found
  bool is_changed = true;       // not yet in the file
  bool is_due = false;          // in_window is to be computed again
};

class MmvTotals {
 public:
  // pmdammv searches linearly: with more instances a fetch takes pmcd too long.
  static constexpr std::size_t kMostInstances = 1000;

  // Makes room for so many records or cells, of any existing tags. Throws if there is no memory,
  // with nothing changed. So the drain takes no call that the totals could not take.
  void make_room(std::size_t records);

  // Requires: room for them. Without memory for a histogram values are missing in percentiles.
  void add(std::span<const Pending::Fetched> some, std::uint64_t now_ns);
  void add(const OverflowCell& cell, std::uint64_t now_ns);

  // Notes the transactions in flight.
  void set_open(const OpenReport& open);

  // Brings the windows of some instances up to date. Bounded: many instances take several calls.
  void refresh(std::uint64_t now_ns);

  // When refresh() has something to do again.
  std::uint64_t next_refresh_ns(std::uint64_t now_ns) const;

  // In order of their first calls; never removed.
  std::vector<MmvInstance>& instances() { return instances_; }

 private:
  using Number = std::uint32_t;  // of an instance plus one; 0: none yet

  MmvInstance& find_or_make(const Tag* tag, TraceType type);
  void make_due(MmvInstance& instance);

  std::vector<Number> by_tag_;
  std::array<Number, kTraceTypes.size()> overflow_{};
  std::vector<MmvInstance> instances_;
  std::vector<std::size_t> due_;  // indexes of instances_
  std::uint64_t part_ = 0;        // of the window, at the last refresh()
  std::uint64_t looks_ = 0;
  bool has_open_ = false;
};

}  // namespace pcp::trace::client
