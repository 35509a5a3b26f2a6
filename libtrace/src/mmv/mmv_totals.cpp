// SPDX-License-Identifier: LGPL-2.1-or-later
#include "mmv/mmv_totals.hpp"

#include <algorithm>

namespace pcp::trace::client {
namespace {

// A window takes microseconds to compute.
constexpr int kMostRefreshed = 32;
constexpr std::uint64_t kNextRefreshNs = 10'000'000;
constexpr std::uint64_t kNextAgeNs = 1'000'000'000;

MmvValues& values_of(MmvInstance& instance, RecordKind kind) {
  return kind == RecordKind::Abort ? instance.failed : instance.calls;
}

bool has_values(const MmvInstance& instance, std::uint64_t part) {
  return instance.calls.window.has_values(part) || instance.failed.window.has_values(part);
}

}  // namespace

void MmvTotals::make_room(std::size_t records) {
  const std::size_t possible = std::size_t{end_of_tag_ids()} * kTraceTypes.size();
  if (possible > by_tag_.size()) by_tag_.resize(possible);
  const std::size_t most = std::min(possible, kMostInstances + kTraceTypes.size());
  const std::size_t needed = std::min(instances_.size() + records, most);
  if (needed <= instances_.capacity()) return;
  const std::size_t room = std::min(std::max(needed, instances_.capacity() * 2), most);
  due_.reserve(room);
  instances_.reserve(room);
}

MmvInstance& MmvTotals::find_or_make(const Tag* tag, TraceType type) {
  Number& known = by_tag_[tag->id * kTraceTypes.size() + index_of(type)];
  if (known != 0) return instances_[known - 1];
  const bool is_full = instances_.size() >= kMostInstances;
  Number& of_all = overflow_[index_of(type)];
  if (!is_full || of_all == 0) {
    MmvInstance& made = instances_.emplace_back();
    made.type = type;
    if (!is_full) made.tag = tag;
    (is_full ? of_all : known) = static_cast<Number>(instances_.size());
  }
  if (is_full) known = of_all;
  return instances_[known - 1];
}

void MmvTotals::make_due(MmvInstance& instance) {
  if (instance.is_due) return;
  due_.push_back(static_cast<std::size_t>(&instance - instances_.data()));
  instance.is_due = true;
}

void MmvTotals::add(std::span<const Pending::Fetched> some, std::uint64_t now_ns) {
  const std::uint64_t part = MmvWindow::part_at(now_ns);
  for (const Pending::Fetched& fetched : some) {
    const Record& record = fetched.record;
    MmvInstance& instance = find_or_make(record.tag(), type_of(record.kind()));
    instance.is_changed = true;
    MmvValues& values = values_of(instance, record.kind());
    if (!add_to(record.kind() == RecordKind::Add ? instance.added : values.since_start, record))
      continue;
    values.window.add(record.value, part);
    make_due(instance);
  }
}

void MmvTotals::add(const OverflowCell& cell, std::uint64_t now_ns) {
  MmvInstance& instance = find_or_make(cell.tag, type_of(cell.kind));
  instance.is_changed = true;
  if (cell.kind == RecordKind::Add) {
    add_increments(instance.added, cell.delta.count, cell.delta.sum);
    return;
  }
  MmvValues& values = values_of(instance, cell.kind);
  values.since_start.merge(cell.delta);
  if (!has_histogram(instance.type)) return;
  values.window.add(cell.delta, MmvWindow::part_at(now_ns));
  make_due(instance);
}

void MmvTotals::set_open(const OpenReport& open) {
  ++looks_;
  has_open_ = false;
  open.for_each([&](const Tag& tag, std::uint64_t count, double oldest_s) {
    make_room(1);
    MmvInstance& instance = find_or_make(&tag, TraceType::Transact);
    const bool is_first = instance.open_seen != looks_;  // several tags may share "(overflow)"
    instance.is_changed |= count > 0 || instance.open > 0;
    instance.open = is_first ? count : instance.open + count;
    instance.oldest_s = is_first ? oldest_s : std::max(instance.oldest_s, oldest_s);
    instance.open_seen = looks_;
    has_open_ |= count > 0;
  });
}

void MmvTotals::refresh(std::uint64_t now_ns) {
  const std::uint64_t part = MmvWindow::part_at(now_ns);
  if (part_ != part) {
    for (MmvInstance& each : instances_)
      if (has_values(each, part_)) make_due(each);
    part_ = part;
  }
  for (int left = kMostRefreshed; left > 0 && !due_.empty(); --left) {
    MmvInstance& instance = instances_[due_.front()];
    for (MmvValues* const values : {&instance.calls, &instance.failed})
      values->in_window = values->window.values(part);  // may throw
    instance.is_changed = true;
    instance.is_due = false;
    due_.erase(due_.begin());
  }
}

std::uint64_t MmvTotals::next_refresh_ns(std::uint64_t now_ns) const {
  if (!due_.empty()) return now_ns + kNextRefreshNs;
  if (has_open_) return now_ns + kNextAgeNs;  // the oldest grows older
  const bool is_of_now = std::any_of(instances_.begin(), instances_.end(), [&](const auto& each) {
    return has_values(each, MmvWindow::part_at(now_ns));
  });
  return is_of_now ? (MmvWindow::part_at(now_ns) + 1) * MmvWindow::kPartNs : kNever;
}

}  // namespace pcp::trace::client
