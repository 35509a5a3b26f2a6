// SPDX-License-Identifier: LGPL-2.1-or-later
// What the agent's threads share. The ingest thread writes, the main thread (pmcd's) reads and
// resets, and the one for the disk reads the instances' numbers. The mutex guards engine and
// clients. The main thread never holds it for more than about a millisecond, the ingest thread not
// for long when it is wanted, and nobody across I/O. The counters are the ingest thread's alone to
// write; each stands for itself, so relaxed atomics will do.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>  // for the users of Shared::mutex
#include <string>

#include "collector/engine/courteous_mutex.hpp"
#include "collector/engine/engine.hpp"
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
};

struct Shared {
  Shared(const EngineOptions& options, const std::vector<KnownInstance>& known, Time now)
      : engine(options, known, now) {}

  CourteousMutex mutex;  // main thread: std::lock_guard lock(shared.mutex); ingest thread: a Turn;
                         // disk: CourteousLock
  Engine engine;         // guarded by mutex
  std::map<std::uint64_t, ClientView> clients;  // guarded by mutex; key: connection number
  IngestCounters counters;
};

}  // namespace pcp::trace::agent
