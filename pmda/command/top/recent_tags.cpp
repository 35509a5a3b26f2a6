// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/top/recent_tags.hpp"

#include <algorithm>
#include <cmath>

#include "collector/engine/cumulative_histogram.hpp"
#include "command/run/groups.hpp"
#include "command/run/histogram_slices.hpp"

namespace pcp::trace::command {

namespace {

// A recording's last sample may come directly after the one before.
constexpr Duration kShortest = std::chrono::milliseconds(10);

std::optional<double> lesser(const std::optional<double>& one, const std::optional<double>& other) {
  return one && other ? std::min(one, other) : std::max(one, other);  // nothing is the least
}

std::optional<Extreme> exact(const std::optional<double>& value) {
  return value ? std::optional(Extreme{*value, true}) : std::nullopt;
}

}  // namespace

Result<std::optional<Recent>> RecentTags::next() {
  const Result<bool> read = changes_.read_next(*this);
  if (!read) return read.error();
  is_over_ = !*read;
  const bool is_last = is_over_ && has_grown_ && elapsed_ > Duration::zero();
  if (elapsed_ < kShortest && !is_last) return std::optional<Recent>();
  return std::optional(take_recent());
}

void RecentTags::take_sample(const SampleTime& time) {
  time_ = time;
  ++samples_;
  if (time.from) {
    elapsed_ += time.at - *time.from;
    return;
  }
  elapsed_ = {};
  entries_.clear();
}

void RecentTags::take(const Change& change) {
  Entry& its = entry(change.tag);
  const std::size_t index = index_of(change.quantity);
  if (only_grows(change.quantity)) {
    its.grown[index] = its.grown[index].value_or(0) + change.value;
    has_grown_ |= change.value > 0;
  } else {
    its.values[index] = change.value;
  }
}

void RecentTags::take_histogram(std::size_t tag, std::string_view text) {
  Entry& its = entry(tag);
  if (!has_distributions_) its.texts.clear();
  if (!its.texts.empty() && its.texts.back().second == text) return;
  its.texts.emplace_back(time_.at, text);
  its.has_new_text = true;
}

// Values of windows are those of one sample; levels stay.
void RecentTags::Entry::forget_window() {
  std::fill(values.begin() + index_of(Quantity::Rate), values.end(), std::nullopt);
}

void RecentTags::Entry::begin_anew() {
  for (std::optional<double>& each : grown)
    if (each) each = 0;
}

RecentTags::Entry& RecentTags::entry(std::size_t tag) {
  if (tag >= entries_.size()) entries_.resize(std::max(tag + 1, names_.size()));
  Entry& its = entries_[tag];
  if (std::exchange(its.seen, samples_) != samples_) its.forget_window();
  return its;
}

// All values of a text that began in the window; else those since the last text from before it.
void RecentTags::fill_distribution(Tag& tag, Entry& entry) const {
  auto& texts = entry.texts;
  if (!has_distributions_ || texts.empty()) return;
  const WallTime begin = time_.at - std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::duration<double>(time_.period_s.value_or(0)));
  for (; texts.size() > 1 && texts[1].first <= begin; entry.has_new_text = true)
    texts.erase(texts.begin());
  const bool is_whole = since_of(texts.back().second) >= begin;
  if (std::exchange(entry.is_whole, is_whole) != is_whole) entry.has_new_text = true;
  if (std::exchange(entry.has_new_text, false)) {
    entry.distribution.reset();
    auto newest = agent::parse_cumulative_histogram(texts.back().second);
    const auto oldest = agent::parse_cumulative_histogram(texts.front().second);
    if (!newest || !oldest || (!is_whole && texts.size() == 1)) return;
    if (!is_whole) newest = agent::subtract(*newest, *oldest);
    if (newest->unbinned == 0) entry.distribution = std::move(newest->histogram);
  }
  if (!entry.distribution || entry.distribution->empty()) return;
  tag.distribution = entry.distribution;
  tag.percentile_source = PercentileSource::Histogram;
}

Recent RecentTags::take_recent() {
  const double elapsed_s = std::chrono::duration<double>(elapsed_).count();
  if (std::exchange(described_, names_.size()) != names_.size())
    for (const TraceType type : {TraceType::Observe, TraceType::Counter})
      descriptions_[type] = source_.descriptions(type);
  Recent recent{{}, {}, time_.at, elapsed_s, time_.period_s};
  for (Entry& each : entries_)
    if (each.seen != samples_) each.forget_window();
  recent.tags.reserve(entries_.size());
  const bool has_failed = source_.has(TraceType::Transact, Quantity::Calls, Ending::Failed);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const bool is_there = source_.is_sparse() ? entries_[i].seen > 0 : entries_[i].seen > taken_;
    if (names_.ending(i) == Ending::Failed || !is_there) continue;
    const std::optional<std::size_t> failed = names_.other_ending(i);
    Tag& tag = recent.tags.emplace_back();
    tag.name = names_.name(i);
    tag.type = names_.type(i);
    tag.hosts = {0};
    fill(tag, elapsed_s, entries_[i],
         failed && *failed < entries_.size() ? &entries_[*failed] : nullptr);
    if (has_failed && tag.type == TraceType::Transact) tag.failed = tag.failed.value_or(0);
  }
  for (Entry& each : entries_) each.begin_anew();
  taken_ = samples_;
  elapsed_ = {};
  has_grown_ = false;
  return recent;
}

void RecentTags::fill(Tag& tag, double elapsed_s, Entry& completed, const Entry* failed) {
  static const Entry kNone;
  if (failed == nullptr) failed = &kNone;
  const auto growth_of = [&](Quantity quantity) {
    std::optional<double> grown = completed.growth(quantity);
    if (grown) *grown += failed->growth(quantity).value_or(0);
    return grown && std::isfinite(*grown) ? grown : std::nullopt;
  };
  tag.calls = growth_of(Quantity::Calls).value_or(0);
  tag.rate = tag.calls / elapsed_s;
  tag.failed = failed->growth(Quantity::Calls);
  tag.vanished = growth_of(Quantity::Vanished);
  tag.nonfinite = growth_of(Quantity::Nonfinite);
  tag.counted = growth_of(Quantity::Counted);
  tag.last = completed.value(Quantity::Last);
  tag.in_flight = completed.value(Quantity::InFlight);
  tag.lacks_times = tag.failed > 0.0 && !failed->growth(Quantity::Sum);  // of an older library
  fill_unit(tag);
  if (!has_histogram(tag.type)) return;
  if (!tag.lacks_times) tag.sum = growth_of(Quantity::Sum);
  if (tag.sum && tag.type == TraceType::Transact) tag.busy = *tag.sum / elapsed_s;
  find_mean(tag);
  tag.min = exact(lesser(completed.value(Quantity::Min), failed->value(Quantity::Min)));
  tag.max = exact(std::max(completed.value(Quantity::Max), failed->value(Quantity::Max)));
  for (std::size_t i = 0; i < kPercentiles.size(); ++i)
    tag.percentiles[i] = completed.values[index_of(Quantity::P50) + i];
  tag.percentile_source = PercentileSource::NoCalls;
  if (!completed.value(Quantity::Max)) return;
  tag.percentile_source =
      tag.percentiles[kP50] ? PercentileSource::OneWindow : PercentileSource::NotRecorded;
  fill_distribution(tag, completed);
}

std::string RecentTags::text_of(TraceType type, const std::string& name) {
  const std::size_t tag = names_.find_or_add(type, name);
  return tag < entries_.size() && !entries_[tag].texts.empty() ? entries_[tag].texts.back().second
                                                               : "";
}

void RecentTags::fill_unit(Tag& tag) const {
  if (tag.type == TraceType::Transact) return;
  tag.unit = source_.unit_of(tag.type);
  const auto of_type = descriptions_.find(tag.type);
  if (!tag.unit.empty() || of_type == descriptions_.end()) return;
  if (const auto its = of_type->second.find(tag.name); its != of_type->second.end())
    tag.unit = its->second.unit;
}

Recent sum_of_hosts(std::vector<Recent> hosts) {
  Recent sum = std::move(hosts.front());
  if (hosts.size() == 1) return sum;
  for (std::size_t i = 1; i < hosts.size(); ++i) {
    sum.hosts.push_back(std::move(hosts[i].hosts.front()));
    sum.at = std::max(sum.at, hosts[i].at);
    sum.elapsed_s = std::max(sum.elapsed_s, hosts[i].elapsed_s);
    sum.window_s = std::max(sum.window_s, hosts[i].window_s);
    for (Tag& tag : hosts[i].tags) {
      tag.hosts = {static_cast<std::uint16_t>(i)};
      sum.tags.push_back(std::move(tag));
    }
  }
  const auto same = [](const std::string& name) { return std::optional(name); };
  sum.tags = group_tags(std::move(sum.tags), same, PercentileSource::SeveralHosts).tags;
  return sum;
}

}  // namespace pcp::trace::command
