// SPDX-License-Identifier: LGPL-2.1-or-later
// What the ingest tells of its work: who is connected, and how much it has seen.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "collector/engine/types.hpp"
#include "wire/batch.hpp"

namespace pcp::trace::agent {

inline constexpr std::uint32_t kUnknownUid = 0xffffffff;

// One connected process that speaks version 2.
struct ClientView {
  std::uint32_t pid = 0;
  std::uint32_t uid = kUnknownUid;       // kUnknownUid over TCP
  std::uint32_t gid = kUnknownUid;       // likewise
  std::string process;                   // its name, or the beginning of a long one
  std::shared_ptr<const Origin> origin;  // never null
  Time connected_at{};
  wire::ClientCounters counters;
};

// The ingest thread is the only one that writes them. Each stands for itself, so relaxed atomics
// will do: partners are count() in ingest/count.hpp and whoever shows them.
struct IngestCounters {
  using Counter = std::atomic<std::uint64_t>;
  std::atomic<std::uint64_t> connections{0};  // now
  Counter accepted{0};                        // ever
  Counter refused_permission{0};
  Counter refused_limit{0};
  Counter refused_quota{0};  // sessions of one user
  Counter dropped_malformed{0};
  Counter dropped_timeout{0};  // unfinished PDU
  Counter dropped_limit{0};    // too many tags, label bytes, unfinished bytes
  Counter pdus{0};
  Counter bytes{0};
  Counter batches{0};
  Counter duplicates{0};  // batches that had been applied before
  Counter records{0};     // calls, of both versions
  Counter sessions{0};    // now, connected or remembered
  Counter busy_ns{0};     // CPU time of the ingest thread
  Counter labels_refused{0};
  Counter unsplit{0};             // tags that would be too long with the labels of their process
  Counter in_flight_left_out{0};  // reports of a session's tag for which there was no room
};

}  // namespace pcp::trace::agent
