// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/reader.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "collector/engine/tag_directory.hpp"
#include "collector/shared.hpp"

namespace pcp::trace::agent {

namespace {

// Elements per hold of the mutex: well below a millisecond. The engine gives fewer if tags must be
// summarised first.
constexpr std::size_t kAtOnce = 256;

// Repeats: copy(from, max, slice) appends elements, with the mutex, and returns the number of those
// it looked at; take(slice) gets them, without the mutex. Handles `count` elements, or fewer at the
// end. Only a slice at a time, because a vector with all elements would grow while the mutex is
// held.
template <typename Element, typename Copy, typename Take>
void copy_in_slices(std::size_t from, std::size_t count, Copy copy, Take take) {
  std::vector<Element> slice;
  slice.reserve(kAtOnce);
  for (std::size_t looked_at = 1; from < count && looked_at > 0; from += looked_at) {
    slice.clear();
    looked_at = copy(from, std::min(kAtOnce, count - from), slice);
    take(slice);
  }
}

// Handles all elements, one by one, however many there are.
template <typename Element, typename Copy, typename Take>
void copy_all(std::size_t from, Copy copy, Take take) {
  copy_in_slices<Element>(from, std::numeric_limits<std::size_t>::max(), copy,
                          [&](std::vector<Element>& slice) {
                            for (Element& element : slice) take(std::move(element));
                          });
}

}  // namespace

void Reader::tag_values(TraceType type, std::size_t count, Instant now,
                        const std::function<void(std::vector<TagValues>&)>& take) const {
  copy_in_slices<TagValues>(
      0, count,
      [&](std::size_t from, std::size_t max, std::vector<TagValues>& out) {
        const Lock lock(shared_->mutex);
        return shared_->engine.snapshot(type, from, max, now, out);
      },
      take);
}

void Reader::begin_cumulative(Instant now) const {
  const Lock lock(shared_->mutex);
  shared_->engine.begin_cumulative(now);
}

void Reader::cumulative(TraceType type, Outcome outcome, Instant now,
                        const std::function<bool(std::int32_t)>& wanted,
                        const std::function<void(CumulativeSample&&)>& take) const {
  copy_all<CumulativeSample>(
      0,
      [&](std::size_t from, std::size_t max, std::vector<CumulativeSample>& out) {
        const Lock lock(shared_->mutex);
        return shared_->engine.cumulative(type, outcome, from, max, now, wanted, out);
      },
      take);
}

void Reader::instances(TraceType type, std::size_t from,
                       const std::function<void(InstanceName&&)>& take) const {
  copy_all<InstanceName>(
      from,
      [&](std::size_t next, std::size_t max, std::vector<InstanceName>& out) {
        const Lock lock(shared_->mutex);
        return shared_->engine.instances(type, next, max, out);
      },
      take);
}

std::size_t Reader::instance_count(TraceType type) const {
  const Lock lock(shared_->mutex);
  return shared_->engine.instance_count(type);
}

std::uint32_t Reader::life() const {
  const Lock lock(shared_->mutex);
  return shared_->engine.life();
}

Instant Reader::begin_of_life() const {
  const Lock lock(shared_->mutex);
  return shared_->engine.begin_of_life();
}

WallTime Reader::wall_time(Instant time) const {
  return WallTime(time.time_since_epoch() + shared_->wall_offset);
}

void Reader::clients(const std::function<void(std::uint64_t, ClientView&&)>& take) const {
  using Client = std::pair<std::uint64_t, ClientView>;
  std::uint64_t last = 0;  // 0 is no connection's number
  copy_all<Client>(
      0,
      [&](std::size_t, std::size_t max, std::vector<Client>& out) {
        const Lock lock(shared_->mutex);
        auto next = shared_->clients.upper_bound(last);
        for (; next != shared_->clients.end() && out.size() < max; ++next) {
          out.push_back(*next);
          last = next->first;
        }
        return out.size();
      },
      [&](Client&& client) { take(client.first, std::move(client.second)); });
}

EngineCounters Reader::engine_counters() const {
  const Lock lock(shared_->mutex);
  return shared_->engine.counters();
}

SpanTotals Reader::span_totals() const { return shared_->spans.totals(); }

const IngestCounters& Reader::ingest_counters() const { return shared_->counters; }

// engine_options() and changes() need no mutex: of the options only the period changes, on the main
// thread, and no other thread reads it without the mutex; changes() is atomic.
const EngineOptions& Reader::engine_options() const TRACE_UNCHECKED {
  return shared_->engine.options();
}
std::uint64_t Reader::changes() const TRACE_UNCHECKED { return shared_->engine.changes(); }

Numbers Reader::highest_numbers() const {
  const CourteousLock lock(shared_->mutex);
  return shared_->engine.highest_numbers();
}

std::vector<KnownInstance> Reader::numbers() const {
  std::vector<KnownInstance> numbers;
  copy_all<KnownInstance>(
      0,
      [&](std::size_t from, std::size_t max, std::vector<KnownInstance>& out) {
        const CourteousLock lock(shared_->mutex);
        return shared_->engine.known_instances(from, max, out);
      },
      [&](KnownInstance&& number) { numbers.push_back(std::move(number)); });
  drop_repeated(numbers);
  return least_absent(std::move(numbers), engine_options().most_tags());
}

}  // namespace pcp::trace::agent
