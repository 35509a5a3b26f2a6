// SPDX-License-Identifier: LGPL-2.1-or-later
// Data that the ingest provides: the connected clients, and its counters.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "collector/engine/types.hpp"
#include "wire/batch.hpp"
#include "wire/delta.hpp"

namespace pcp::trace::agent {

inline constexpr std::uint32_t kUnknownUid = 0xffffffff;

// One connected process that speaks version 2.
struct ClientView {
  std::uint32_t pid = 0;
  std::uint32_t uid = kUnknownUid;       // kUnknownUid over TCP
  std::uint32_t gid = kUnknownUid;       // kUnknownUid over TCP
  std::string process;                   // the name, or its beginning
  std::shared_ptr<const Origin> origin;  // never null
  Instant connected_at{};
  wire::ClientCounters counters;
};

// Written by the ingest thread only, in tally(); read by any thread. The values are independent, so
// relaxed is enough.
using IngestCounter = std::atomic<std::uint64_t>;
struct IngestCounters {
  std::atomic<std::uint64_t> connections{0};  // now
  IngestCounter accepted{0};                  // ever
  IngestCounter refused_permission{0};
  IngestCounter refused_limit{0};
  IngestCounter refused_quota{0};  // sessions beyond a user's limit
  IngestCounter dropped_malformed{0};
  IngestCounter dropped_timeout{0};  // unfinished PDU
  IngestCounter dropped_limit{0};    // too many tags, label bytes, unfinished bytes
  IngestCounter said_nothing{0};     // connections that ended before the peer's first PDU
  IngestCounter pdus{0};
  IngestCounter bytes{0};
  IngestCounter batches{0};
  IngestCounter duplicates{0};  // batches already applied
  IngestCounter records{0};     // calls, of both versions
  IngestCounter sessions{0};    // now, connected or remembered
  IngestCounter busy_ns{0};     // CPU time of the ingest thread
  IngestCounter labels_refused{0};
  IngestCounter unsplit{0};             // tags that would be too long with the labels of --split
  IngestCounter folding{0};             // sessions that may have folded label sets
  IngestCounter in_flight_left_out{0};  // reports of tags without room
  IngestCounter boxes{0};               // black boxes, now
  IngestCounter boxes_read{0};          // those of processes that have died
  IngestCounter boxes_refused{0};       // not taken, or not read
};

// Thread: the ingest thread. It is the only writer, so a plain sum suffices. The sum saturates,
// since peers may claim any number of calls.
inline void tally(IngestCounter& counter, std::uint64_t more = 1) {
  std::uint64_t counted = counter.load(std::memory_order_relaxed);
  add_calls(counted, more);
  counter.store(counted, std::memory_order_relaxed);
}

}  // namespace pcp::trace::agent
