// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/reader.hpp"

#include <algorithm>
#include <utility>

#include "collector/shared.hpp"

namespace pcp::trace::agent {

namespace {

// Copied for each hold of the mutex: well below a millisecond. Where tags must be summarised first,
// the engine gives fewer.
constexpr std::size_t kAtOnce = 256;

// Calls copy(max, out), with the mutex held, to append at most `max` of what take() has not had
// yet; hands each to take(), without the mutex; and ends when there were fewer. Into a vector of
// their own, since one with all of them would grow while the mutex is held.
template <typename Element, typename Lock, typename Copy, typename Take>
void copy_in_slices(CourteousMutex& mutex, Copy copy, Take take) {
  std::vector<Element> slice;
  slice.reserve(kAtOnce);
  do {
    slice.clear();
    {
      const Lock lock(mutex);
      copy(kAtOnce, slice);
    }
    for (Element& element : slice) take(std::move(element));
  } while (slice.size() == kAtOnce);
}

using MainLock = std::lock_guard<CourteousMutex>;

}  // namespace

bool TagValueSlices::next(std::vector<TagValues>& slice) {
  slice.clear();
  if (begun_ && copied_ == count_) return false;
  const MainLock lock(shared_.mutex);
  if (!std::exchange(begun_, true)) count_ = shared_.engine.generation(type_).count;
  copied_ +=
      shared_.engine.snapshot(type_, copied_, std::min(kAtOnce, count_ - copied_), now_, slice);
  return !slice.empty();
}

void Reader::instances(TraceType type, std::size_t from,
                       const std::function<void(InstanceName&&)>& take) const {
  copy_in_slices<InstanceName, MainLock>(
      shared_->mutex,
      [&](std::size_t max, std::vector<InstanceName>& out) {
        from += shared_->engine.instances(type, from, max, out);
      },
      take);
}

std::size_t Reader::instance_count(TraceType type) const {
  const MainLock lock(shared_->mutex);
  return shared_->engine.generation(type).count;
}

std::uint64_t Reader::resets() const {
  const MainLock lock(shared_->mutex);
  return shared_->engine.generation(TraceType::Transact).resets;  // the same for all types
}

void Reader::clients(const std::function<void(std::uint64_t, ClientView&&)>& take) const {
  using Client = std::pair<std::uint64_t, ClientView>;
  std::uint64_t last = 0;  // no connection has this number
  copy_in_slices<Client, MainLock>(
      shared_->mutex,
      [&](std::size_t max, std::vector<Client>& out) {
        auto next = shared_->clients.upper_bound(last);
        for (; next != shared_->clients.end() && out.size() < max; ++next) {
          out.push_back(*next);
          last = next->first;
        }
      },
      [&](Client&& client) { take(client.first, std::move(client.second)); });
}

EngineCounters Reader::engine_counters() const {
  const MainLock lock(shared_->mutex);
  return shared_->engine.counters();
}

// Neither of the two ever moves, nor do the options change.
const EngineOptions& Reader::engine_options() const { return shared_->engine.options(); }
const IngestCounters& Reader::ingest_counters() const { return shared_->counters; }

std::uint64_t Reader::changes() const { return shared_->engine.changes(); }

bool Reader::has_numbers_beyond(std::size_t count) const {
  std::vector<KnownInstance> first;
  first.reserve(1);
  const CourteousLock lock(shared_->mutex);
  return shared_->engine.known_instances(count, 1, first) > 0;
}

std::vector<KnownInstance> Reader::numbers() const {
  std::vector<KnownInstance> numbers;
  copy_in_slices<KnownInstance, CourteousLock>(
      shared_->mutex,
      [&](std::size_t max, std::vector<KnownInstance>& out) {
        shared_->engine.known_instances(numbers.size(), max, out);
      },
      [&](KnownInstance&& number) { numbers.push_back(std::move(number)); });
  return numbers;
}

}  // namespace pcp::trace::agent
