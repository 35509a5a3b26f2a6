// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/top/recent_tags.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <span>

#include "collector/engine/cumulative_histogram.hpp"
#include "command/run/groups.hpp"
#include "command/run/histogram_slices.hpp"

namespace pcp::trace::command {

TagReading RecentTags::read(const std::optional<TagKey>& about) try {
  TagReading reading;
  do {
    const Result<bool> read = changes_.read_next(*this);
    if (!read) return {.trouble = read.error().message, .is_over = is_archive_};
    reading.is_over = !*read;
    reading.recent = recent();
  } while (is_archive_ && !reading.recent && !reading.is_over);
  if (reading.is_over) reading.trouble = changes_.why_incomplete();
  if (const auto& started = changes_.started()) reading.agent.emplace(source_->host(), *started);
  if (about) reading.detail = detail_of(*about);
  return reading;
} catch (const std::exception& fault) {
  return {.trouble = fault.what()};
}

void RecentTags::take_sample(const SampleTime& time) {
  time_ = time;
  ++samples_;
  has_grown_ = false;
  if (!time.from) entries_.clear();
  for (Entry& each : entries_) {
    for (std::optional<double>& grown : std::span(each.values).first(kGrowing))
      if (grown) grown = 0;
    std::fill(each.values.begin() + index_of(Quantity::Rate), each.values.end(), std::nullopt);
  }
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

std::optional<Recent> RecentTags::recent() {
  // A recording's last sample may come directly after the one before, and tell nothing.
  constexpr double kShortest = 0.01;
  const WallTime from = std::exchange(time_.from, {}).value_or(time_.at);  // not again for a gap
  const double elapsed_s = std::chrono::duration<double>(time_.at - from).count();
  if (elapsed_s <= 0 || (elapsed_s < kShortest && !has_grown_)) return {};
  if (std::exchange(described_, names_.size()) != names_.size())  // takes long
    for (const TraceType type : {TraceType::Observe, TraceType::Counter})
      descriptions_[type] = source_->descriptions(type);
  Recent recent{{source_->host()}, {}, time_.at, elapsed_s, time_.period_s};
  recent.tags.reserve(entries_.size());
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (names_.ending(i) == Ending::Completed &&
        entries_[i].seen >= (source_->is_sparse() ? 1 : samples_))
      recent.tags.push_back(tag_at(i, elapsed_s));
  return recent;
}

Tag RecentTags::tag_at(std::size_t number, double elapsed_s) {
  static const Entry kNone;
  Entry& completed = entries_[number];
  const std::size_t other = names_.other_ending(number).value_or(entries_.size());
  const Entry& failed = other < entries_.size() ? entries_[other] : kNone;
  Tag tag;
  tag.name = names_.name(number);
  tag.type = names_.type(number);
  tag.hosts = {0};
  const auto sum_of = [&](Quantity quantity) {
    std::optional<double> sum = completed.of(quantity);
    if (sum) *sum += failed.of(quantity).value_or(0);
    return sum && std::isfinite(*sum) ? sum : std::nullopt;
  };
  tag.calls = sum_of(Quantity::Calls).value_or(0);
  tag.rate = tag.calls / elapsed_s;
  tag.failed = failed.of(Quantity::Calls);
  tag.lacks_times = tag.failed > 0.0 && !failed.of(Quantity::Sum);  // of an older library
  if (!tag.lacks_times) tag.sum = sum_of(Quantity::Sum);
  tag.vanished = sum_of(Quantity::Vanished);
  tag.nonfinite = sum_of(Quantity::Nonfinite);
  tag.counted = sum_of(Quantity::Counted);
  tag.last = completed.of(Quantity::Last);
  tag.in_flight = completed.of(Quantity::InFlight);
  if (tag.type == TraceType::Transact) {
    if (!tag.failed && source_->has(tag.type, Quantity::Calls, Ending::Failed)) tag.failed = 0;
    if (tag.sum) tag.busy = *tag.sum / elapsed_s;
  } else if (tag.unit = source_->unit_of(tag.type); tag.unit.empty()) {
    const auto& of_type = descriptions_[tag.type];
    if (const auto its = of_type.find(tag.name); its != of_type.end()) tag.unit = its->second.unit;
  }
  if (!has_histogram(tag.type)) return tag;
  find_mean(tag);
  for (const Entry* const each : {&std::as_const(completed), &failed}) {
    const std::optional<double>& min = each->of(Quantity::Min);
    const std::optional<double>& max = each->of(Quantity::Max);
    if (min && (!tag.min || *min < tag.min->value)) tag.min = Extreme{*min, true};
    if (max && (!tag.max || *max > tag.max->value)) tag.max = Extreme{*max, true};
  }
  std::copy_n(completed.values.begin() + index_of(Quantity::P50), kPercentiles.size(),
              tag.percentiles.begin());
  tag.percentile_source = !completed.of(Quantity::Max) ? PercentileSource::NoCalls
                          : tag.percentiles[kP50]      ? PercentileSource::OneWindow
                                                       : PercentileSource::NotRecorded;
  if (has_distributions_ && completed.of(Quantity::Max)) find_distribution(tag, completed);
  return tag;
}

// The values since the last text from before the window.
void RecentTags::find_distribution(Tag& tag, Entry& entry) const {
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

TagDetail RecentTags::detail_of(const TagKey& tag) {
  TagDetail detail{.host = source_->host()};
  const std::size_t entry = names_.find_or_add(tag.first, tag.second);
  if (is_archive_ && entry < entries_.size() && !entries_[entry].texts.empty())
    detail.histogram = entries_[entry].texts.back().second;
  const pmInDom domain = source_->domain_of(tag.first);
  const Instances tags = source_->instances(domain, false);
  const auto its = std::ranges::find(tags, tag.second, &Instances::value_type::second);
  if (its == tags.end()) return detail;
  int number = its->first;
  const OwnedLabels labels = labels_of_instances(domain);
  for (const pmLabelSet& set : labels.all())
    if (static_cast<int>(set.inst) == number) detail.labels = set.json;
  if (is_archive_ || !has_histogram(tag.first)) return detail;
  const bool is_transaction = tag.first == TraceType::Transact;
  pmDelProfile(domain, 0, nullptr);
  pmAddProfile(domain, 1, &number);
  detail.histogram = read_texts_of(is_transaction ? "tracing.histogram.transact"
                                                  : "tracing.histogram.observe")[number];
  if (is_transaction) detail.open = open_transactions_of(detail.host);
  pmAddProfile(domain, 0, nullptr);
  return detail;
}

Recent sum_of_hosts(std::vector<Recent> hosts) {
  Recent sum = std::move(hosts.front());
  if (hosts.size() == 1) return sum;
  for (std::size_t i = 1; i < hosts.size(); ++i) {
    Recent& its = hosts[i];
    sum.hosts.push_back(std::move(its.hosts.front()));
    sum.at = std::max(sum.at, its.at);
    sum.elapsed_s = std::max(sum.elapsed_s, its.elapsed_s);
    sum.window_s = std::max(sum.window_s, its.window_s);
    for (Tag& tag : its.tags) tag.hosts = {static_cast<std::uint16_t>(i)};
    std::ranges::move(its.tags, std::back_inserter(sum.tags));
  }
  const auto same = [](const std::string& name) { return std::optional(name); };
  sum.tags = group_tags(std::move(sum.tags), same, PercentileSource::SeveralHosts).tags;
  return sum;
}

}  // namespace pcp::trace::command
