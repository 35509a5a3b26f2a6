// SPDX-License-Identifier: LGPL-2.1-or-later
// Copies data out of the collector. Callers take no lock. Large data is copied in slices, each
// short enough that neither the ingest thread nor the reader waits long. A slice is handed over
// after the mutex is released.
//
// A handle, free to copy, valid as long as the collector.
//
// Thread: the main one, unless noted; so no reset can happen between two slices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "collector/ingest_counters.hpp"
#include "collector/spans/shared_spans.hpp"

namespace pcp::trace::agent {

struct Shared;

class Reader {
 public:
  explicit Reader(Shared& shared) : shared_(&shared) {}

  // Hands out the values of the first `count` tags of a type, in slices, in the order of their
  // first values. The slice may be changed.
  void tag_values(TraceType type, std::size_t count, Instant now,
                  const std::function<void(std::vector<TagValues>& slice)>& take) const;

  // Starts the cumulative distributions of all values, which cumulative() hands out.
  void begin_cumulative(Instant now) const;

  // Hands out the cumulative distributions of all `wanted` tags.
  // `wanted` is called with the mutex held.
  void cumulative(TraceType type, Outcome outcome, Instant now,
                  const std::function<bool(std::int32_t)>& wanted,
                  const std::function<void(CumulativeSample&&)>& take) const;

  // Hands out the names of a type's instances, starting at index `from`, in the order of
  // tag_values().
  void instances(TraceType type, std::size_t from,
                 const std::function<void(InstanceName&&)>& take) const;

  // The number of a type's instances.
  std::size_t instance_count(TraceType type) const;

  // Changes with each reset.
  std::uint32_t life() const;

  // The start, or the last reset.
  Instant begin_of_life() const;

  // Converts engine time to wall-clock time, ignoring clock changes since the start.
  WallTime wall_time(Instant time) const;

  // Hands out the connected clients, ordered by connection number.
  void clients(const std::function<void(std::uint64_t, ClientView&&)>& take) const;

  EngineCounters engine_counters() const;

  // Thread: any, here and below; but only the main thread may read the period.
  const EngineOptions& engine_options() const;
  const IngestCounters& ingest_counters() const;

  SpanTotals span_totals() const;

  // Changes when instances come or go, or when an instance's labels change.
  std::uint64_t changes() const;

  // The numbers for the agent's next life, for as many tags as may be shown; and the highest number
  // of each type. The main thread has priority. After a reset meanwhile, numbers above the previous
  // highest ones may be missing.
  std::vector<KnownInstance> numbers() const;
  Numbers highest_numbers() const;

 private:
  Shared* shared_;
};

}  // namespace pcp::trace::agent
