// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/top/recent_tags.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "collector/engine/cumulative_histogram.hpp"
#include "command/run/groups.hpp"
#include "command/run/histogram_slices.hpp"

namespace pcp::trace::command {

Result<std::optional<Recent>> RecentTags::next() {
  // A recording's last sample may come directly after the one before.
  constexpr Duration kShortest = std::chrono::milliseconds(10);
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
  for (Entry& each : entries_)
    std::fill(each.values.begin() + index_of(Quantity::Rate), each.values.end(), std::nullopt);
  if (time.from) {
    elapsed_ += time.at - *time.from;
    return;
  }
  elapsed_ = {};
  entries_.clear();
}

void RecentTags::take(const Change& change) {
  std::optional<double>& value = entry(change.tag).values[index_of(change.quantity)];
  const bool grows = only_grows(change.quantity);
  value = grows ? value.value_or(0) + change.value : change.value;
  has_grown_ |= grows && change.value != 0;
}

// The first text has all values if the tag's distribution began in the window.
void RecentTags::take_histogram(std::size_t tag, std::string_view text) {
  Entry& its = entry(tag);
  const std::optional<WallTime> since = since_of(text);
  if (!has_distributions_) its.texts.clear();
  if (its.texts.empty() && since >= window_begin()) its.texts.emplace_back(*since, "");
  if (!its.texts.empty() && its.texts.back().second == text) return;
  its.texts.emplace_back(time_.at, text);
  its.distribution.reset();
}

WallTime RecentTags::window_begin() const {
  const std::chrono::duration<double> window(time_.period_s.value_or(0));
  return time_.at - std::chrono::duration_cast<std::chrono::nanoseconds>(window);
}

RecentTags::Entry& RecentTags::entry(std::size_t tag) {
  if (tag >= entries_.size()) entries_.resize(std::max(tag + 1, names_.size()));
  entries_[tag].seen = samples_;
  return entries_[tag];
}

Recent RecentTags::take_recent() {
  if (std::exchange(described_, names_.size()) != names_.size())  // takes long
    for (const TraceType type : {TraceType::Observe, TraceType::Counter})
      descriptions_[type] = source_.descriptions(type);
  static const Entry kNone;
  const double elapsed_s = std::chrono::duration<double>(std::exchange(elapsed_, {})).count();
  Recent recent{{}, {}, time_.at, elapsed_s, time_.period_s};
  const bool has_failed = source_.has(TraceType::Transact, Quantity::Calls, Ending::Failed);
  recent.tags.reserve(entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const bool is_there = source_.is_sparse() ? entries_[i].seen > 0 : entries_[i].seen > taken_;
    if (names_.ending(i) == Ending::Failed || !is_there) continue;
    const std::size_t failed = names_.other_ending(i).value_or(entries_.size());
    Tag& tag = recent.tags.emplace_back();
    tag.name = names_.name(i);
    tag.type = names_.type(i);
    tag.hosts = {0};
    fill(tag, elapsed_s, entries_[i], failed < entries_.size() ? entries_[failed] : kNone);
    if (has_failed && tag.type == TraceType::Transact) tag.failed = tag.failed.value_or(0);
  }
  for (Entry& each : entries_)
    for (std::optional<double>& grown : std::span(each.values).first(kGrowing))
      if (grown) grown = 0;
  taken_ = samples_;
  has_grown_ = false;
  return recent;
}

void RecentTags::fill(Tag& tag, double elapsed_s, Entry& completed, const Entry& failed) {
  const auto growth_of = [&](Quantity quantity) {
    std::optional<double> grown = completed.of(quantity);
    if (grown) *grown += failed.of(quantity).value_or(0);
    return grown && std::isfinite(*grown) ? grown : std::nullopt;
  };
  tag.calls = growth_of(Quantity::Calls).value_or(0);
  tag.rate = tag.calls / elapsed_s;
  tag.failed = failed.of(Quantity::Calls);
  tag.vanished = growth_of(Quantity::Vanished);
  tag.nonfinite = growth_of(Quantity::Nonfinite);
  tag.counted = growth_of(Quantity::Counted);
  tag.last = completed.of(Quantity::Last);
  tag.in_flight = completed.of(Quantity::InFlight);
  tag.lacks_times = tag.failed > 0.0 && !failed.of(Quantity::Sum);  // of an older library
  if (tag.type != TraceType::Transact) tag.unit = source_.unit_of(tag.type);
  if (const auto& of_type = descriptions_[tag.type]; tag.unit.empty() && !of_type.empty())
    if (const auto its = of_type.find(tag.name); its != of_type.end()) tag.unit = its->second.unit;
  if (!has_histogram(tag.type)) return;
  if (!tag.lacks_times) tag.sum = growth_of(Quantity::Sum);
  if (tag.sum && tag.type == TraceType::Transact) tag.busy = *tag.sum / elapsed_s;
  find_mean(tag);
  tag.percentile_source = PercentileSource::NoCalls;
  // Nothing is the least of optional values.
  const auto& least = completed.of(Quantity::Min);
  const auto& of_failed = failed.of(Quantity::Min);
  const auto min = least && of_failed ? std::min(least, of_failed) : std::max(least, of_failed);
  const auto max = std::max(completed.of(Quantity::Max), failed.of(Quantity::Max));
  if (min) tag.min = Extreme{*min, true};
  if (max) tag.max = Extreme{*max, true};
  for (std::size_t i = 0; i < kPercentiles.size(); ++i)
    tag.percentiles[i] = completed.values[index_of(Quantity::P50) + i];
  if (!completed.of(Quantity::Max)) return;
  tag.percentile_source =
      tag.percentiles[kP50] ? PercentileSource::OneWindow : PercentileSource::NotRecorded;
  if (has_distributions_) fill_distribution(tag, completed);
}

// The values since the last text from before the window.
void RecentTags::fill_distribution(Tag& tag, Entry& entry) const {
  auto& [values, seen, texts, distribution] = entry;
  for (; texts.size() > 1 && texts[1].first <= window_begin(); distribution.reset())
    texts.erase(texts.begin());
  if (!distribution && texts.size() > 1) {
    const auto all = agent::parse_cumulative_histogram(texts.back().second);
    const auto before = agent::parse_cumulative_histogram(texts.front().second);
    if (!all || (!before && !texts.front().second.empty())) return;
    auto recent = before ? agent::subtract(*all, *before) : *all;
    if (recent.unbinned == 0) distribution = std::move(recent.histogram);
  }
  if (!distribution || distribution->empty()) return;
  tag.distribution = distribution;
  tag.percentile_source = PercentileSource::Histogram;
}

std::string RecentTags::text_of(const TagNames::Key& tag) {
  const std::size_t number = names_.find_or_add(tag.first, tag.second);
  if (number >= entries_.size() || entries_[number].texts.empty()) return "";
  return entries_[number].texts.back().second;
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
