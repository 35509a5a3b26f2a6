// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/tag_history.hpp"

#include <algorithm>
#include <cmath>

namespace pcp::trace::agent {

BatchShares::BatchShares(const wire::BatchAge& age, const WindowClock& clock, std::int64_t current,
                         Instant now) {
  const std::int64_t oldest = current - clock.buckets() + 1;
  const Duration visible = std::max(now - clock.begin_of(oldest), Duration{0});
  const auto visible_ns = static_cast<std::uint64_t>(visible.count());
  const std::uint64_t last = std::min(age.last_ns, age.first_ns);
  const std::uint64_t first = std::min(age.first_ns, visible_ns);
  if (last > visible_ns) return;

  const auto interval_of = [&](std::uint64_t ns_ago) {
    const Instant time = now - Duration{static_cast<std::int64_t>(ns_ago)};
    return std::clamp(clock.interval_at(time), oldest, current);
  };
  if (age.first_ns == last) {
    shares_[count_++] = {interval_of(last), 0, 1};
    return;
  }
  const double records_from = static_cast<double>(age.first_ns);
  const double records_span = static_cast<double>(age.first_ns - last);
  const auto share_at = [&](std::uint64_t ns_ago) {
    return (records_from - static_cast<double>(ns_ago)) / records_span;
  };
  const std::int64_t begin = interval_of(first);
  const std::int64_t intervals = interval_of(last) - begin + 1;
  const std::int64_t pieces = std::min(intervals, kMost);
  const auto age_of = [&](std::int64_t interval) {
    const Duration ago = std::max(now - clock.begin_of(interval), Duration{0});
    return std::clamp(static_cast<std::uint64_t>(ago.count()), last, first);
  };
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    const std::int64_t from = begin + intervals * piece / pieces;
    const std::int64_t to = begin + intervals * (piece + 1) / pieces;
    shares_[count_++] = {from + (to - from) / 2, share_at(piece == 0 ? first : age_of(from)),
                         share_at(piece + 1 == pieces ? last : age_of(to))};
  }
}

std::uint64_t part_of(std::uint64_t count, double from, double to) {
  const auto up_to = [count](double share) {
    if (share >= 1) return count;
    return std::min(count,
                    static_cast<std::uint64_t>(std::round(static_cast<double>(count) * share)));
  };
  return up_to(to) - up_to(from);
}

WindowSums part_of(const Delta& delta, const BatchShare& share) {
  const std::uint64_t finite = delta.count - delta.nonfinite;
  const std::uint64_t finite_part = part_of(finite, share.from, share.to);
  WindowSums part;
  part.nonfinite = part_of(delta.nonfinite, share.from, share.to);
  part.count = finite_part + part.nonfinite;
  if (finite_part == 0) return part;
  part.sum = delta.sum;
  if (is_known_sum(delta.sum))
    part.sum *= static_cast<double>(finite_part) / static_cast<double>(finite);
  part.min = delta.min;
  part.max = delta.max;
  return part;
}

namespace {

std::uint64_t finite(std::uint64_t count, std::uint64_t nonfinite) {
  return count - std::min(count, nonfinite);  // saturated counts may be equal
}

}  // namespace

bool TagHistory::advance(std::int64_t interval, std::size_t buckets, HistogramPool& pool,
                         CumulativePool& cumulative) {
  if (failures_) failures_->advance(interval, buckets, pool, cumulative);
  const std::int64_t oldest = interval - static_cast<std::int64_t>(buckets);
  const bool is_kept =
      cumulative.begun && interval_ >= cumulative.first_interval && window_.working().count > 0;
  TagCumulative* const kept = is_kept ? this->cumulative(cumulative) : nullptr;
  window_.advance(interval_, oldest, buckets);
  if (histograms_) {
    histograms_->complete(interval_, oldest, pool);
    if (kept != nullptr) kept->add(histograms_->working(), cumulative.memory);
    histograms_->clear_working(pool);
    if (window_.empty()) {
      histograms_->leave(pool);
      histograms_.reset();
    }
  }
  interval_ = interval;
  summary_ = window_.total_of_completed();
  if (histograms_) histograms_->summarise(summary_, pool);
  return !is_window_empty();
}

TagHistory& TagHistory::failures(Instant now, CumulativePool& cumulative) {
  if (!failures_) {
    failures_ = std::make_unique<TagHistory>(tag_, type_);
    failures_->interval_ = interval_;
    if (cumulative.begun) failures_->begin_cumulative(now, cumulative);
  }
  return *failures_;
}

void TagHistory::add(const Delta& delta, std::string_view histogram, HistogramPool& pool) {
  total_.merge(delta);
  window_.working().merge(delta);
  if (histogram.empty() || !has_histogram(type_)) return;
  const std::uint64_t binned = delta.count - delta.nonfinite - delta.unbinned;
  if (!has_room_for_histograms(pool) || !histograms_->merge(histogram, binned, pool))
    add_calls(total_.unbinned, binned);
}

Delta TagHistory::apply_increments(const Delta& delta) {
  add_calls(increments_.calls, delta.count);
  add_value(increments_.sum, delta.sum);
  Delta calls;
  calls.count = delta.count;
  calls.last = total_.last;
  return calls;
}

std::uint64_t TagHistory::add_late(const Delta& delta, std::string_view histogram,
                                   const BatchShares& shares, std::size_t buckets,
                                   HistogramPool& pool, CumulativePool& cumulative) {
  TagCumulative* const kept = cumulative.begun ? this->cumulative(cumulative) : nullptr;
  total_.merge(delta);
  DealtHistogram values(has_histogram(type_) ? histogram : std::string_view());
  Histogram late;  // the part for completed buckets, and the part that is too old for any
  const double too_old = shares.get().empty() ? 1 : shares.get().front().from;
  values.deal(part_of(values.total(), 0, too_old), late);
  std::uint64_t in_window = 0;
  for (const BatchShare& share : shares.get()) {
    const WindowSums part = part_of(delta, share);
    if (part.count == 0) continue;
    WindowSums& bucket = share.interval == interval_ ? window_.working()
                                                     : window_.completed(share.interval, buckets);
    bucket.merge(part);
    add_late(values, share, kept != nullptr ? &late : nullptr, pool);
    in_window += part.count;
  }
  if (kept != nullptr) kept->add(late, cumulative.memory);
  add_calls(total_.unbinned, values.left());
  return delta.count - in_window;
}

// Values for a completed bucket are also added to `completed`, if not null.
void TagHistory::add_late(DealtHistogram& values, const BatchShare& share, Histogram* completed,
                          HistogramPool& pool) {
  if (values.left() == 0 || !has_room_for_histograms(pool)) return;
  const std::uint64_t until = part_of(values.total(), 0, share.to);
  if (share.interval == interval_) {
    histograms_->merge(values, until, pool);
  } else if (completed == nullptr) {
    histograms_->merge_late(share.interval, values, until, pool);
  } else {
    DealtHistogram same = values;
    histograms_->merge_late(share.interval, values, until, pool);
    same.deal(same.total() - values.left(), *completed);
  }
}

// The number of finite values outside the working bucket.
std::uint64_t TagHistory::completed() const {
  const std::uint64_t all = finite(total_.count, total_.nonfinite);
  const WindowSums& working = window_.working();
  return all - std::min(all, finite(working.count, working.nonfinite));
}

// Gives the tag's cumulative histogram, made before its first value; null if the type has none.
// Call it before that value counts as completed.
TagCumulative* TagHistory::cumulative(CumulativePool& cumulative) {
  if (!cumulative_ && has_histogram(type_)) {
    cumulative_ = std::make_unique<TagCumulative>(cumulative.since, completed(), cumulative.memory);
  }
  return cumulative_.get();
}

void TagHistory::copy_to(CumulativeSample& sample, const CumulativePool& cumulative) const {
  sample.since = cumulative.since;
  if (!cumulative_) return;
  sample.left_out = cumulative_->is_left_out();
  sample.since = cumulative_->since();
  sample.count = cumulative_->count();
  sample.unbinned = cumulative_->unbinned(completed());
  sample.packed = cumulative_->packed();
}

void TagHistory::copy_to(TagValues& values, Instant now) const {
  values.total = total_;
  if (failures_) {
    values.failed = failures_->total_;
    values.failed_window = failures_->summary_;
  }
  values.increments = increments_;
  if (in_flight_) in_flight_->copy_to(values.in_flight, now);
  values.in_window = summary_.count > 0;
  values.window = summary_;
  values.has_quantiles = histograms_ && histograms_->quantiles().has_value();
  if (!values.has_quantiles) return;
  values.quantiles = *histograms_->quantiles();
  values.quantile_error = histograms_->quantile_error();
}

}  // namespace pcp::trace::agent
