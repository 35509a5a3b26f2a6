// SPDX-License-Identifier: LGPL-2.1-or-later
// The data shared by the collector's threads; other code uses a Reader. The ingest thread writes,
// the main thread (pmcd's) reads and resets, the disk thread reads instance numbers. The main
// thread holds the mutex for about a millisecond at most; the ingest thread releases it soon if
// wanted. No thread holds it during I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/courteous_mutex.hpp"
#include "collector/engine/engine.hpp"
#include "collector/ingest_counters.hpp"
#include "collector/spans/shared_spans.hpp"

namespace pcp::trace::agent {

struct Shared {
  // `wall` is the wall-clock time at `now`.
  Shared(const EngineOptions& options, const std::vector<KnownInstance>& known, Instant now,
         WallTime wall = {}, std::size_t span_bytes = SharedSpans::kUsualBytes)
      : engine(options, known, now),
        wall_offset(wall.time_since_epoch() - now.time_since_epoch()),
        spans(span_bytes) {}

  CourteousMutex mutex;  // main thread: a Lock; ingest thread: a Turn; disk: a CourteousLock
  Engine engine TRACE_GUARDED_BY(mutex);
  std::map<std::uint64_t, ClientView> clients TRACE_GUARDED_BY(mutex);  // by connection number
  IngestCounters counters;
  const Duration wall_offset;  // from the engine's clock to the wall clock, as at the start
  SharedSpans spans;           // has its own mutex
};

}  // namespace pcp::trace::agent
