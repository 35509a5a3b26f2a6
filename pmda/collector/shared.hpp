// SPDX-License-Identifier: LGPL-2.1-or-later
// What the collector's threads share; private to it, others have a Reader. The ingest thread
// writes, the main thread (pmcd's) reads and resets, and the one for the disk reads the instances'
// numbers. The main thread never holds the mutex for more than about
// a millisecond, the ingest thread not for long when it is wanted, and nobody across I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "collector/engine/courteous_mutex.hpp"
#include "collector/engine/engine.hpp"
#include "collector/spans/spans.hpp"
#include "collector/types.hpp"

namespace pcp::trace::agent {

struct Shared {
  // `wall` is what the wall clock shows at that time.
  Shared(const EngineOptions& options, const std::vector<KnownInstance>& known, Time now,
         Time wall = {}, std::size_t span_bytes = Spans::kUsualBytes)
      : engine(options, known, now), wall_offset(wall - now), spans(span_bytes) {}

  CourteousMutex mutex;  // main thread: a Lock; ingest thread: a Turn; disk: a CourteousLock
  Engine engine TRACE_GUARDED_BY(mutex);
  std::map<std::uint64_t, ClientView> clients TRACE_GUARDED_BY(mutex);  // by connection number
  IngestCounters counters;
  const Time wall_offset;  // of the wall clock, as it was at the start, to the engine's
  Spans spans;             // has a mutex of its own
};

}  // namespace pcp::trace::agent
