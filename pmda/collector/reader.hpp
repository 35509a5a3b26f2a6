// SPDX-License-Identifier: LGPL-2.1-or-later
// What the collector knows, copied out of it. Whoever reads takes no lock: what there may be much
// of is copied in slices, each short enough that neither the ingest thread nor the reader waits
// long, and each is handed over when nobody is kept waiting any more.
//
// A handle, to be copied freely, and valid as long as the collector is.
//
// Thread: the main one, where nothing else is said; so nothing is reset between two slices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "collector/spans/spans.hpp"
#include "collector/types.hpp"

namespace pcp::trace::agent {

struct Shared;

// The values of all tags of a type, some at a time, in the order in which they first had values.
// Tags that come meanwhile are left for another time.
class TagValueSlices {
 public:
  TagValueSlices(Shared& shared, TraceType type, Time now)
      : shared_(shared), type_(type), now_(now) {}

  // Replaces what is in `slice` by the next values. False if there are none left.
  bool next(std::vector<TagValues>& slice);

  // How many there are in all, once next() was called.
  std::size_t count() const { return count_; }

 private:
  Shared& shared_;
  TraceType type_;
  Time now_;
  bool begun_ = false;
  std::size_t copied_ = 0;
  std::size_t count_ = 0;
};

class Reader {
 public:
  explicit Reader(Shared& shared) : shared_(&shared) {}

  TagValueSlices tag_values(TraceType type, Time now) const { return {*shared_, type, now}; }

  // Hands out the distributions of the interval that was over last, of those tags that have one.
  // Should another interval end meanwhile, they are of that one from there on.
  void histograms(TraceType type, Time now,
                  const std::function<void(IntervalHistogram&&)>& take) const;

  // From the first call on the distributions of all values are kept, which are handed out below.
  void begin_cumulative(Time now) const;

  // Hands out those of all tags that are `wanted`; their `since` is as the wall clock has it.
  // `wanted` is called with the mutex held.
  void cumulative(TraceType type, Time now, const std::function<bool(std::int32_t)>& wanted,
                  const std::function<void(CumulativeSample&&)>& take) const;

  // Hands out the names of a type's instances from the `from`th on, in the same order.
  void instances(TraceType type, std::size_t from,
                 const std::function<void(InstanceName&&)>& take) const;

  // How many there are.
  std::size_t instance_count(TraceType type) const;

  // How often everything was reset.
  std::uint64_t resets() const;

  // When everything was 0: the start, or the last reset.
  Time begin_of_life() const;

  // The wall clock's time at a time of ours, unless the clock was set since the start.
  Time wall_time(Time time) const;

  // Hands out who is connected, with the connection's number, in the order of the numbers.
  void clients(const std::function<void(std::uint64_t, ClientView&&)>& take) const;

  EngineCounters engine_counters() const;

  // Thread: any, as is that of the functions below.
  const EngineOptions& engine_options() const;
  const IngestCounters& ingest_counters() const;

  SpanTotals span_totals() const;

  // Differs from before if instances have come or gone, or the labels of any have changed.
  std::uint64_t changes() const;

  // The numbers to be known to the agent's next life, of as many tags as may be shown, and the
  // highest of each type. The main thread goes first; where it resets meanwhile, numbers beyond
  // those that were the highest before may be missing.
  std::vector<KnownInstance> numbers() const;
  Numbers highest_numbers() const;

 private:
  Shared* shared_;
};

}  // namespace pcp::trace::agent
