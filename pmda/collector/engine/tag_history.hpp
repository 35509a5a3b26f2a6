// SPDX-License-Identifier: LGPL-2.1-or-later
// The data of one tag in one life: totals, window, and the window's summary, which is computed once
// per interval.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string_view>

#include "collector/engine/dealt_histogram.hpp"
#include "collector/engine/histogram_pool.hpp"
#include "collector/engine/tag_cumulative.hpp"
#include "collector/engine/types.hpp"
#include "collector/engine/window_clock.hpp"
#include "collector/engine/window_histograms.hpp"
#include "collector/engine/window_sums.hpp"
#include "wire/batch.hpp"
#include "wire/delta.hpp"

namespace pcp::trace::agent {

// The open transactions of one tag, as its processes report them, and the number of transactions
// that disappeared with their process. Adding or removing a share takes time logarithmic in their
// number; reading takes constant time.
class TagInFlight {
 public:
  // Requires: there is no share of this holder.
  void enter(const OpenShare& share) {
    shares_.insert(share);
    open_ += share.open;
  }

  // Requires: this share was entered.
  void leave(const OpenShare& share) {
    const auto entered = shares_.find(share);
    assert(entered != shares_.end() && entered->open == share.open);
    open_ -= entered->open;
    shares_.erase(entered);
  }

  void vanish(std::uint64_t open) { add_calls(vanished_, open); }

  bool is_empty() const { return shares_.empty() && vanished_ == 0; }

  void copy_to(TagValues::InFlight& values, Instant now) const {
    values.vanished = vanished_;
    values.open = open_;
    if (shares_.empty()) return;
    const OpenShare& oldest = *shares_.begin();
    values.oldest_age = std::max(now - oldest.began, Duration{0});
    values.pid = oldest.pid;
    values.tid = oldest.tid;
  }

 private:
  struct BeganEarlier {
    bool operator()(const OpenShare& a, const OpenShare& b) const {
      return a.began != b.began ? a.began < b.began : a.holder < b.holder;
    }
  };

  std::set<OpenShare, BeganEarlier> shares_;
  std::uint64_t open_ = 0;  // of all shares
  std::uint64_t vanished_ = 0;
};

// The records from the share `from` to the share `to` of a batch (0 to 1, in the order of time)
// happened in `interval`.
struct BatchShare {
  std::int64_t interval = 0;
  double from = 0;
  double to = 1;
};

// Puts a late batch in the window: its sender had no agent for a while. A batch only tells when
// its first and its last record happened. The records between are taken to be spread evenly.
class BatchShares {
 public:
  // Divides the part of the batch that lies in the window. The window is the one that the next
  // rotation will show, so that each value added will also be shown. Nothing if all of the batch is
  // older.
  BatchShares(const wire::BatchAge& age, const WindowClock& clock, std::int64_t current,
              Instant now);

  std::span<const BatchShare> get() const { return {shares_.data(), count_}; }

 private:
  // The most shares of a batch, however many buckets the window has: more would take too long.
  static constexpr std::int64_t kMost = 16;

  std::array<BatchShare, kMost> shares_{};
  std::size_t count_ = 0;
};

// The part of a count from one share to another. Adjoining parts add up exactly.
std::uint64_t part_of(std::uint64_t count, double from, double to);

// The part of a delta: its count rounded, its sum in proportion, its extrema kept.
WindowSums part_of(const Delta& delta, const BatchShare& share);

class TagHistory {
 public:
  TagHistory(TagIndex tag, TraceType type) : tag_(tag), type_(type) {}

  TagIndex tag() const { return tag_; }

  // The interval of the working bucket.
  std::int64_t interval() const { return interval_; }

  // Completes the working bucket, forgets buckets older than the window and computes the summary.
  // False if the window is empty; then its memory is freed.
  bool advance(std::int64_t interval, std::size_t buckets, HistogramPool& pool,
               CumulativePool& cumulative);

  // The next functions add to the totals, and to the working bucket or, if late, the bucket of the
  // time. Requires: interval() is the current one.
  void add(double value, HistogramPool& pool) {
    const bool finite = total_.add(value);
    window_.working().add(value);
    if (!finite || !has_histogram(type_)) return;
    if (!has_room_for_histograms(pool) || !histograms_->add(value, pool)) ++total_.unbinned;
  }
  void add(const Delta& delta, std::string_view histogram, HistogramPool& pool);

  // The transactions that failed, in a history of their own, which begins with the first one.
  TagHistory& failures(Instant now, CumulativePool& cumulative);
  const TagHistory* failures() const { return failures_.get(); }  // null: none

  // Adds increments to a counter's. Gives the rest to add elsewhere: calls that keep the last
  // value.
  Delta apply_increments(const Delta& delta);

  // Gives the number of calls that were too old for the window.
  std::uint64_t add_late(const Delta& delta, std::string_view histogram, const BatchShares& shares,
                         std::size_t buckets, HistogramPool& pool, CumulativePool& cumulative);

  // Starts the cumulative histogram of a new tag.
  void begin_cumulative(Instant now, CumulativePool& cumulative) {
    if (has_histogram(type_))
      cumulative_ = std::make_unique<TagCumulative>(now, 0, cumulative.memory);
  }
  void coarsen_cumulative(HistogramPool& pool) {
    if (cumulative_) cumulative_->coarsen(pool);
    if (failures_) failures_->coarsen_cumulative(pool);
  }

  void coarsen(HistogramPool& pool) {
    if (histograms_) histograms_->coarsen(pool);
    if (failures_) failures_->coarsen(pool);
  }

  // Transactions in flight; see TagInFlight.
  void enter(const OpenShare& share) { in_flight().enter(share); }
  void leave(const OpenShare& share) {
    in_flight_->leave(share);
    if (in_flight_->is_empty()) in_flight_.reset();
  }
  void vanish(std::uint64_t open) { in_flight().vanish(open); }

  bool is_window_empty() const {
    return window_.empty() && (!failures_ || failures_->is_window_empty());
  }
  std::size_t window_size() const {
    return window_.size() + (failures_ ? failures_->window_size() : 0);
  }

  void copy_to(TagValues& values, Instant now) const;

  // Requires: cumulative histograms are kept.
  void copy_to(CumulativeSample& sample, const CumulativePool& cumulative) const;

  // For the engine: this tag's index in its list of active tags.
  static constexpr std::uint32_t kInactive = ~std::uint32_t{0};
  std::uint32_t active_index = kInactive;

 private:
  // Makes the histograms if there are none. False if the pool is full.
  bool has_room_for_histograms(HistogramPool& pool) {
    if (!histograms_ && !pool.is_full()) [[unlikely]]
      histograms_ = std::make_unique<WindowHistograms>(pool);
    return histograms_ != nullptr;
  }
  void add_late(DealtHistogram& values, const BatchShare& share, Histogram* completed,
                HistogramPool& pool);
  std::uint64_t completed() const;
  TagCumulative* cumulative(CumulativePool& cumulative);
  TagInFlight& in_flight() {
    if (!in_flight_) in_flight_ = std::make_unique<TagInFlight>();
    return *in_flight_;
  }

  TagIndex tag_;
  TraceType type_;
  std::int64_t interval_ = 0;
  Delta total_;
  Increments increments_;
  WindowBuckets window_;
  std::unique_ptr<WindowHistograms> histograms_;  // null if the window has none
  std::unique_ptr<TagCumulative> cumulative_;     // null before the first value that is kept
  std::unique_ptr<TagInFlight> in_flight_;        // null if it would be empty
  std::unique_ptr<TagHistory> failures_;          // null before the first one
  WindowSums summary_;
};

}  // namespace pcp::trace::agent
