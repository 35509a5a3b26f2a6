// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/reader.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "collector/engine/tag_registry.hpp"
#include "collector/shared.hpp"

namespace pcp::trace::agent {

namespace {

// Elements per hold of the mutex: well below a millisecond. The engine gives fewer if tags must be
// summarised first.
constexpr std::size_t kAtOnce = 256;

// Repeats: copy(out) appends up to kAtOnce new elements, with the mutex; take() gets each of them,
// without the mutex. Ends after an incomplete slice. A separate vector, because one with all
// elements would grow while the mutex is held.
template <typename Element, typename Copy, typename Take>
void copy_in_slices(Copy copy, Take take) {
  std::vector<Element> slice;
  slice.reserve(kAtOnce);
  do {
    slice.clear();
    copy(slice);
    for (Element& element : slice) take(std::move(element));
  } while (slice.size() == kAtOnce);
}

// The same if copy(from, max, out) returns the number of instances it looked at, and appends only
// some of them. Handles `count` instances, or fewer at the end.
template <typename Element, typename Copy, typename Take>
void copy_of_instances(std::size_t count, Copy copy, Take take) {
  std::vector<Element> slice;
  slice.reserve(kAtOnce);
  std::size_t looked_at = 1;
  for (std::size_t from = 0; from < count && looked_at > 0; from += looked_at) {
    slice.clear();
    looked_at = copy(from, std::min(kAtOnce, count - from), slice);
    for (Element& element : slice) take(std::move(element));
  }
}

// Keeps only the greatest number of each tag.
void drop_repeated(std::vector<KnownInstance>& numbers) {
  std::sort(numbers.begin(), numbers.end(), [](const KnownInstance& a, const KnownInstance& b) {
    if (a.type != b.type) return a.type < b.type;
    const int order = a.tag.compare(b.tag);
    return order != 0 ? order < 0 : a.instance > b.instance;
  });
  const auto same_tag = [](const KnownInstance& a, const KnownInstance& b) {
    return a.type == b.type && a.tag == b.tag;
  };
  numbers.erase(std::unique(numbers.begin(), numbers.end(), same_tag), numbers.end());
}

}  // namespace

bool TagValueSlices::next(std::vector<TagValues>& slice) {
  slice.clear();
  if (begun_ && copied_ == count_) return false;
  const Lock lock(shared_.mutex);
  if (!std::exchange(begun_, true)) count_ = shared_.engine.generation(type_).count;
  copied_ +=
      shared_.engine.snapshot(type_, copied_, std::min(kAtOnce, count_ - copied_), now_, slice);
  return !slice.empty();
}

void Reader::histograms(TraceType type, Instant now,
                        const std::function<void(IntervalHistogram&&)>& take) const {
  copy_of_instances<IntervalHistogram>(
      instance_count(type),
      [&](std::size_t from, std::size_t max, std::vector<IntervalHistogram>& out) {
        const Lock lock(shared_->mutex);
        return shared_->engine.histograms(type, from, max, now, out);
      },
      take);
}

void Reader::begin_cumulative(Instant now) const {
  const Lock lock(shared_->mutex);
  shared_->engine.begin_cumulative(now);
}

void Reader::cumulative(TraceType type, Instant now,
                        const std::function<bool(std::int32_t)>& wanted,
                        const std::function<void(CumulativeSample&&)>& take) const {
  copy_of_instances<CumulativeSample>(
      instance_count(type),
      [&](std::size_t from, std::size_t max, std::vector<CumulativeSample>& out) {
        const Lock lock(shared_->mutex);
        return shared_->engine.cumulative(type, from, max, now, wanted, out);
      },
      take);
}

void Reader::instances(TraceType type, std::size_t from,
                       const std::function<void(InstanceName&&)>& take) const {
  copy_in_slices<InstanceName>(
      [&](std::vector<InstanceName>& out) {
        const Lock lock(shared_->mutex);
        from += shared_->engine.instances(type, from, kAtOnce, out);
      },
      take);
}

std::size_t Reader::instance_count(TraceType type) const {
  const Lock lock(shared_->mutex);
  return shared_->engine.generation(type).count;
}

std::uint64_t Reader::resets() const {
  const Lock lock(shared_->mutex);
  return shared_->engine.generation(TraceType::Transact).resets;  // the same for all types
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
  copy_in_slices<Client>(
      [&](std::vector<Client>& out) {
        const Lock lock(shared_->mutex);
        auto next = shared_->clients.upper_bound(last);
        for (; next != shared_->clients.end() && out.size() < kAtOnce; ++next) {
          out.push_back(*next);
          last = next->first;
        }
      },
      [&](Client&& client) { take(client.first, std::move(client.second)); });
}

EngineCounters Reader::engine_counters() const {
  const Lock lock(shared_->mutex);
  return shared_->engine.counters();
}

SpanTotals Reader::span_totals() const { return shared_->spans.totals(); }

const IngestCounters& Reader::ingest_counters() const { return shared_->counters; }

// engine_options() and changes() need no mutex: options are constant, changes() is atomic.
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
  std::vector<KnownInstance> slice;
  slice.reserve(kAtOnce);
  std::size_t looked_at = kAtOnce;
  for (std::size_t from = 0; looked_at == kAtOnce; from += looked_at) {
    slice.clear();
    {
      const CourteousLock lock(shared_->mutex);
      looked_at = shared_->engine.known_instances(from, kAtOnce, slice);
    }
    std::move(slice.begin(), slice.end(), std::back_inserter(numbers));
  }
  drop_repeated(numbers);
  return least_absent(std::move(numbers), engine_options().most_tags());
}

}  // namespace pcp::trace::agent
