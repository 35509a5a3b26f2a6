// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/archive_totals.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pcp::trace::command {

void ArchiveTotals::take_sample(const SampleTime& time) {
  time_ = time;
  // A recording has two records at its begin: the second one has counters of zero.
  if (samples_.empty() || samples_.back() != time.at) samples_.push_back(time.at);
  if (time.from) {
    stretches_.back().end = time.at;
  } else {
    stretches_.push_back({time.at, time.at});
    for (TagInArchive& tag : tags_) {
      tag.distribution.interrupt();
      tag.before = {};
      tag.calls_since_text = 0;
    }
  }
}

void ArchiveTotals::take(const Change& change) {
  TagInArchive& tag = in_archive(change.tag);
  if (change.is_from_zero) tag.from_zero_in = stretches_.size();
  if (only_grows(change.quantity)) {
    tag.grown[index_of(change.quantity)] += change.value;
    if (change.quantity == Quantity::Calls) tag.calls_since_text += change.value;
    if (change.quantity == Quantity::Nonfinite) tag.calls_since_text -= change.value;
    note_sum(tag, change);
  } else if (change.quantity == Quantity::Last) {
    tag.last = change.value;
    tag.last_at = time_.at;
  } else if (!is_level(change.quantity)) {
    tag.has_percentiles = tag.has_percentiles || percentile_of(change.quantity);
    if (is_of_this_time_only(tag)) take_of_window(tag, change);
  }
}

// A sample's calls come before its sum, which is missing if the agent does not know it.
void ArchiveTotals::note_sum(TagInArchive& tag, const Change& change) {
  if (change.quantity == Quantity::Calls) tag.unsummed += tag.calls_to_sum = change.value;
  if (change.quantity == Quantity::Sum) tag.unsummed -= std::exchange(tag.calls_to_sum, 0);
}

// A window may begin before the first sample, unless the tag began in this stretch. An agent's
// window ended up to an interval ago.
bool ArchiveTotals::is_of_this_time_only(const TagInArchive& tag) const {
  if (tag.from_zero_in == stretches_.size()) return true;
  if (!time_.period_s) return false;
  const std::chrono::duration<double> since_begin = time_.at - stretches_.back().begin;
  const double ago = is_of_agent_ ? time_.interval_s.value_or(*time_.period_s) : 0;
  return since_begin.count() >= *time_.period_s + ago;
}

void ArchiveTotals::take_of_window(TagInArchive& tag, const Change& change) {
  if (change.quantity == Quantity::Rate) {
    if (!time_.period_s) return;
    const double calls = std::round(change.value * *time_.period_s);
    tag.calls_in_windows += calls;
    if (!tag.fullest || calls >= tag.fullest->calls) tag.fullest = AgentWindow{time_.at, calls, {}};
    return;
  }
  if (tag.fullest && tag.fullest->at == time_.at)
    tag.fullest->values[index_of(change.quantity)] = change.value;
  if (change.quantity == Quantity::Min)
    tag.least = std::min(change.value, tag.least.value_or(change.value));
  if (change.quantity == Quantity::Max)
    tag.greatest = std::max(change.value, tag.greatest.value_or(change.value));
  if (change.quantity == Quantity::Max || change.quantity == Quantity::P99)
    note_slowness(tag, change.value, change.quantity == Quantity::P99);
}

// Maxima come before percentiles. A maximum overrides all percentiles.
void ArchiveTotals::note_slowness(TagInArchive& tag, double value, bool is_p99) const {
  if (tag.slowest && is_p99 && !tag.slowest->is_p99) return;
  if (tag.slowest && tag.slowest->is_p99 == is_p99 && value <= tag.slowest->value) return;
  const std::chrono::duration<double> since_begin = time_.at - stretches_.back().begin;
  tag.slowest =
      SlowestMoment{time_.at, value, is_p99, false,
                    std::min(time_.period_s.value_or(since_begin.count()), since_begin.count())};
}

void ArchiveTotals::take_histogram(std::size_t tag, std::string_view text) {
  take_text(in_archive(tag), text);
}

// Distributions are recorded less often than counts. At each end of the wanted time the one is
// taken that has fewer calls between itself and the end. Not of an agent: they lack calls in
// unknown number, so only those that surely are of the wanted time are taken.
void ArchiveTotals::take_text(TagInArchive& tag, std::string_view text) const {
  const WallTime begin = stretches_.back().begin;
  const bool is_from_zero =
      tag.from_zero_in == stretches_.size() || (!is_of_agent_ && since_of(text) >= begin);
  const NearbyText before = std::exchange(tag.before, {});
  if (!before.text.empty() && !is_from_zero && !is_of_agent_ &&
      before.calls < tag.calls_since_text) {
    tag.distribution.take(before.text, begin, begin, false);
    tag.outside += before.calls;
  }
  tag.distribution.take(text, time_.at, begin, is_from_zero, is_of_agent_);
  tag.has_text = true;
  tag.calls_since_text = 0;
}

void ArchiveTotals::take_before(std::size_t tag, NearbyText&& nearby) {
  if (TagInArchive& its = entry(tag); !its.has_text) its.before = std::move(nearby);
}

void ArchiveTotals::take_after(std::size_t tag, const NearbyText& nearby) {
  TagInArchive& its = entry(tag);
  if (is_of_agent_ && !its.has_text) its.before = nearby;
  if (!its.is_there || is_of_agent_ || nearby.calls >= its.calls_since_text) return;
  take_text(its, nearby.text);
  its.outside += nearby.calls;
}

TagInArchive& ArchiveTotals::in_archive(std::size_t tag) {
  TagInArchive& its = entry(tag);
  its.is_there = true;
  return its;
}

TagInArchive& ArchiveTotals::entry(std::size_t tag) {
  if (tag >= tags_.size()) tags_.resize(tag + 1);
  return tags_[tag];
}

std::optional<std::chrono::nanoseconds> usual_interval(const std::vector<WallTime>& samples) {
  if (samples.size() < 2) return {};
  std::vector<std::chrono::nanoseconds> gaps;
  for (std::size_t i = 1; i < samples.size(); ++i) gaps.push_back(samples[i] - samples[i - 1]);
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::nth_element(gaps.begin(), middle, gaps.end());
  return *middle;
}

}  // namespace pcp::trace::command
