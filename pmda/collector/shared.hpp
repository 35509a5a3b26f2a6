// SPDX-License-Identifier: LGPL-2.1-or-later
// What the collector's threads share; private to it, others have a Reader. The ingest thread
// writes, the main thread (pmcd's) reads and resets, and the one for the disk reads the instances'
// numbers. The main thread never holds the mutex for more than about
// a millisecond, the ingest thread not for long when it is wanted, and nobody across I/O.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "collector/engine/courteous_mutex.hpp"
#include "collector/engine/engine.hpp"
#include "collector/types.hpp"

namespace pcp::trace::agent {

struct Shared {
  Shared(const EngineOptions& options, const std::vector<KnownInstance>& known, Time now)
      : engine(options, known, now) {}

  CourteousMutex mutex;  // main thread: a Lock; ingest thread: a Turn; disk: a CourteousLock
  Engine engine TRACE_GUARDED_BY(mutex);
  std::map<std::uint64_t, ClientView> clients TRACE_GUARDED_BY(mutex);  // by connection number
  IngestCounters counters;
};

}  // namespace pcp::trace::agent
