// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/pcp/archive_changes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "wire/delta.hpp"

namespace pcp::trace::command {

Result<void> ArchiveChanges::read_all(ChangeTaker& taker) {
  while (true) {
    const Result<bool> read = read_next(taker);
    if (!read) return read.error();
    if (!*read) return {};
  }
}

Result<bool> ArchiveChanges::read_next(ChangeTaker& taker) {
  const Result<std::optional<ArchiveSample>> sample = source_.next();
  if (!sample) return sample.error();
  if (!*sample) return false;
  if ((*sample)->at > window_.end) return !take_beyond_end(**sample, taker);
  if ((*sample)->is_mark)
    take_mark();
  else
    take_sample(**sample, taker);
  return true;
}

// A pmlogger's gaps are only shown as gaps: it does not promise to be complete.
std::string ArchiveChanges::why_incomplete() const {
  if (is_torn_)
    return "its counts, failures and sums were logged at different times: log trace.transact,"
           " trace.point, trace.observe and trace.counter in one group";
  if (lacks_begin_) return "it is a part of a recording, without its begin, or of an older release";
  if (std::string why = source_.why_incomplete(); !why.empty()) return why;
  if (source_.is_sparse() && stretches_ > 1)
    return "it has gaps: the host or its agent was unreachable, restarted, or was reset";
  return "";
}

// Changes across a mark are unknown: the next values are only a new start.
void ArchiveChanges::take_mark() {
  if (samples_ > 0 && !before_mark_) before_mark_ = at_;
  last_.reset();
  nearby_.clear();
  sampled_.fill({});
  agent_ = {};
  counts_since_.reset();
  for (Known& each : known_) each.is_known.fill(false);
  for (auto& tags : tags_) tags.clear();  // another agent may number tags differently
}

void ArchiveChanges::take_sample(const ArchiveSample& sample, ChangeTaker& taker) {
  take_facts_of_agent(sample);
  ++samples_;
  at_ = sample.at;
  const bool has_tags =
      std::any_of(sample.quantities.begin(), sample.quantities.end(),
                  [](const auto& values) { return is_of_tags(values.what.quantity); });
  // A pmlogger may log other metrics at other times.
  if (!has_tags && !source_.is_sparse()) return;

  if (before_mark_) begin_with_agent(taker);
  has_calls_ = source_.is_sparse() || std::any_of(sample.quantities.begin(),
                                                  sample.quantities.end(), [](const auto& values) {
                                                    return values.what.quantity == Quantity::Calls;
                                                  });
  const bool is_wanted = has_calls_ && at_ >= window_.begin;
  if (is_wanted) taker.take_sample({at_, last_, period_s_, interval_s_});
  if (is_wanted && !last_) {
    ++stretches_;
    take_older_tags(taker);
  }
  for (const QuantityValues& values : sample.quantities)
    if (is_of_tags(values.what.quantity)) take_values(values, taker);
  if (is_wanted) {
    is_torn_ |= !has_all_that_grows();
    last_ = at_;
    for (auto& [tag, nearby] : std::exchange(nearby_, {}))
      taker.take_before(tag, std::move(nearby));
  }
  // A part of a recording may begin with a sample that has all values, too.
  if (sample.says == kBegins || (sample.says == kHasAll && samples_ > 1)) sampled_.fill(at_);
  lacks_begin_ |= source_.is_sparse() && at_ >= window_.begin && !sampled_.front();
}

bool ArchiveChanges::is_before_window() const {
  return at_ < window_.begin || (!last_ && !has_calls_);
}

// Calls, failures and sums of different times cannot be set against each other.
bool ArchiveChanges::has_all_that_grows() {
  const auto is_missing = [this](const RecordedQuantity& what) {
    return only_grows(what.quantity) && source_.has(what.type, what.quantity, what.ending) &&
           sampled_at(what) != at_;
  };
  return source_.is_sparse() ||
         std::none_of(std::begin(kRecordedQuantities), std::end(kRecordedQuantities), is_missing);
}

// A recording's samples lack the tags that do not change. A pmlogger's lack only metrics.
void ArchiveChanges::take_older_tags(ChangeTaker& taker) {
  for (std::size_t tag = 0; tag < known_.size(); ++tag) {
    const Known& its = known_[tag];
    for (std::size_t i = 0; i < kKept; ++i) {
      const Quantity quantity = quantity_at(i);
      if (its.is_known[i] && (source_.is_sparse() || quantity == Quantity::InFlight))
        taker.take({tag, quantity, only_grows(quantity) ? 0 : its.last[i], at_, false});
    }
  }
}

// Reads on to the next distributions. True if there are no more to wait for.
bool ArchiveChanges::take_beyond_end(const ArchiveSample& sample, ChangeTaker& taker) {
  if (sample.is_mark) return true;
  take_facts_of_agent(sample);
  if (!last_) return true;  // the agent has begun anew, or the window has no samples
  ++samples_;
  at_ = sample.at;
  bool has_distributions = false;
  for (const QuantityValues& values : sample.quantities) {
    const Quantity quantity = values.what.quantity;
    if (only_grows(quantity) || quantity == Quantity::Histogram) take_values(values, taker);
    has_distributions |= quantity == Quantity::Histogram;
  }
  return has_distributions;
}

void ArchiveChanges::count_nearby(std::size_t tag, Quantity quantity, double grown) {
  if (quantity == Quantity::Calls) nearby_[tag].calls += grown;
  if (quantity == Quantity::Nonfinite) nearby_[tag].calls -= grown;
}

// If the agent began to count after the last sample before a mark, it counted from 0.
void ArchiveChanges::begin_with_agent(ChangeTaker& taker) {
  const WallTime before_mark = *std::exchange(before_mark_, std::nullopt);
  const bool has_begun_anew = std::exchange(has_begun_anew_, false);
  if (!counts_since_) return;
  WallTime begin = *counts_since_;
  // A sample's time is the request's, not the answer's.
  if (has_begun_anew) begin = std::max(begin, before_mark + std::chrono::nanoseconds(1));
  if (begin <= before_mark || begin >= at_) return;
  sampled_.fill(begin);
  if (begin < window_.begin) return;
  ++stretches_;
  taker.take_sample({begin, {}, period_s_, interval_s_});
  last_ = begin;
}

void ArchiveChanges::take_facts_of_agent(const ArchiveSample& sample) {
  AgentLife agent = agent_;
  bool has_uptime = false;
  for (const QuantityValues& values : sample.quantities) {
    if (is_of_tags(values.what.quantity) || values.values().empty()) continue;
    const double value = values.number(values.values().front());
    if (!std::isfinite(value)) continue;
    if (is_of_life(values.what.quantity)) agent.take(values.what.quantity, value);
    switch (values.what.quantity) {
      case Quantity::Uptime:
        has_uptime = true;
        break;
      case Quantity::Started:
        starts_.insert(value);
        break;
      case Quantity::Folded:
        room_.folded = std::max(value, room_.folded.value_or(0));
        break;
      case Quantity::Overflowed:
        room_.overflowed = std::max(value, room_.overflowed.value_or(0));
        break;
      case Quantity::Folding:
        room_.folding = std::max(value, room_.folding.value_or(0));
        break;
      case Quantity::Interval:
        interval_s_ = value;
        break;
      case Quantity::Unsplit:
        room_.unsplit = std::max(value, room_.unsplit);
        break;
      default:
        period_s_ = value;
    }
  }
  const bool is_other = agent.is_other_than(agent_);
  std::optional<WallTime> since;
  if (const auto age_s = agent.counts_for_s(); has_uptime && age_s)
    since = sample.at - std::chrono::duration_cast<std::chrono::nanoseconds>(
                            std::chrono::duration<double>(*age_s));
  // Calls between the last sample and the start of the new agent are unknown. Tags that a pmlogger
  // logged in between belong to the new agent.
  if (is_other && (source_.is_sparse() || (since && *since > at_))) {
    take_mark();
    has_begun_anew_ = true;
  }
  agent_ = agent;
  if (since) counts_since_ = since;
}

// The start of the time that a metric's new values cover: its last reading. In sparse archives
// unchanged metrics are omitted, so each sample counts as a reading of all.
std::optional<WallTime> ArchiveChanges::since(const QuantityValues& values) {
  if (is_before_window()) return {};
  const std::optional<WallTime>& own = source_.is_sparse() ? last_ : sampled_at(values.what);
  return own < window_.begin ? std::nullopt : own;
}

void ArchiveChanges::take_values(const QuantityValues& values, ChangeTaker& taker) {
  const Quantity quantity = values.what.quantity;
  const std::optional<WallTime> from = since(values);
  if (quantity == Quantity::Calls && values.what.ending == Ending::Completed)
    forget_names_if_begun_anew(values);
  for (const pmValue& value : values.values()) {
    if (only_grows(quantity)) {
      take_growing(values, value, from, taker);
    } else if (at_ > window_.end) {
      NearbyText& nearby = nearby_[tag_of(values, value.inst)];
      nearby.text = values.text(value);
      taker.take_after(tag_of(values, value.inst), nearby);
    } else if (!is_before_window()) {
      const std::size_t tag = tag_of(values, value.inst);
      if (quantity == Quantity::Histogram) taker.take_histogram(tag, values.text(value));
      // Windows of the first sample cover the time before it, which is not reported.
      else if (const double number = values.number(value);
               is_level(quantity) || (from && !std::isnan(number)))
        taker.take({tag, quantity, number, from.value_or(at_), false});
    } else if (is_level(quantity)) {
      Known& its = known(tag_of(values, value.inst));
      its.last[index_of(quantity)] = values.number(value);
      its.is_known[index_of(quantity)] = true;
    } else if (quantity == Quantity::Histogram) {
      nearby_[tag_of(values, value.inst)] = {std::string(values.text(value)), 0};
    }
  }
  if (!source_.is_sparse()) sampled_at(values.what) = at_;
}

// A tag that a reading of all lacked began at 0. Otherwise its first value is only a start.
void ArchiveChanges::take_growing(const QuantityValues& values, const pmValue& value,
                                  std::optional<WallTime> from, ChangeTaker& taker) {
  const double now = values.number(value);
  if (!std::isfinite(now)) return;
  const std::size_t tag = tag_of(values, value.inst);
  const std::size_t index = index_of(values.what.quantity);
  Known& its = known(tag);
  const bool is_new = !its.is_known[index];
  const bool begins = is_new && sampled_at(values.what);
  if (is_new) its.last[index] = begins ? 0 : now;
  const double grown = growth(values, its, now);
  its.is_known[index] = true;
  its.last[index] = now;
  if (!from || at_ > window_.end) count_nearby(tag, values.what.quantity, grown);
  if (is_before_window() || at_ > window_.end) return;
  const bool is_from_zero = begins || its.began_anew == samples_;
  taker.take(
      {tag, values.what.quantity, from ? grown : 0, from.value_or(at_), from && is_from_zero});
}

// A fallen value means a restart from 0. Sums of values that may be negative can fall without one.
double ArchiveChanges::growth(const QuantityValues& values, Known& known, double now) const {
  const auto [metric, type, quantity, ending] = values.what;
  const double before = known.last[index_of(quantity)];
  if (!is_known_sum(now)) return std::numeric_limits<double>::quiet_NaN();
  const bool may_fall =
      quantity == Quantity::Counted || (quantity == Quantity::Sum && type == TraceType::Observe);
  if (now < before && !may_fall) known.began_anew = samples_;
  return known.began_anew == samples_ ? now : now - before;
}

// A restarted agent may number tags differently.
void ArchiveChanges::forget_names_if_begun_anew(const QuantityValues& calls) {
  const auto all = calls.values();
  const bool has_fallen = std::any_of(all.begin(), all.end(), [&](const pmValue& value) {
    const auto tag = tags_[index_of(calls.what.type)].find(value.inst);
    if (tag == tags_[index_of(calls.what.type)].end()) return false;
    const Known& its = known(tag->second);
    return its.is_known[0] && calls.number(value) < its.last[0];
  });
  if (has_fallen) tags_[index_of(calls.what.type)].clear();
}

std::size_t ArchiveChanges::tag_of(const QuantityValues& values, int instance) {
  const std::size_t tag = named(values, instance);
  return values.what.ending == Ending::Failed ? names_.failed_of(tag) : tag;
}

// The tag, whatever the end of its calls.
std::size_t ArchiveChanges::named(const QuantityValues& values, int instance) {
  const TraceType type = values.what.type;
  auto& tags = tags_[index_of(type)];
  if (const auto found = tags.find(instance); found != tags.end()) return found->second;
  if (std::uint64_t& read_at = names_read_at_[index_of(type)]; read_at != samples_) {
    read_at = samples_;
    read_names(values);
    if (const auto found = tags.find(instance); found != tags.end()) return found->second;
  }
  return tags[instance] = names_.find_or_add(type, "instance " + std::to_string(instance));
}

// Takes long. A name from another time is better than none.
void ArchiveChanges::read_names(const QuantityValues& values) {
  const TraceType type = values.what.type;
  const pmInDom domain = values.metric.indom;
  auto& tags = tags_[index_of(type)];
  for (const auto& [number, name] : source_.instances(domain, false))
    tags[number] = names_.find_or_add(type, name);
  const auto all = values.values();
  if (std::all_of(all.begin(), all.end(),
                  [&](const pmValue& each) { return tags.contains(each.inst); }))
    return;
  for (const auto& [number, name] : source_.instances(domain, true))
    if (!tags.contains(number)) tags[number] = names_.find_or_add(type, name);
}

ArchiveChanges::Known& ArchiveChanges::known(std::size_t tag) {
  if (tag >= known_.size()) known_.resize(std::max(tag + 1, names_.size()));
  return known_[tag];
}

std::optional<WallTime>& ArchiveChanges::sampled_at(const RecordedQuantity& what) {
  const bool has_failed = what.ending == Ending::Failed;
  const std::size_t series = has_failed ? kSeries - 1 : index_of(what.type);
  return sampled_[index_of(what.quantity) * kSeries + series];
}

}  // namespace pcp::trace::command
