// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/groups.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

#include "command/run/label_choice.hpp"
#include "wire/dimensions.hpp"
#include "wire/histogram_bins.hpp"

namespace pcp::trace::command {

namespace {

using Value = std::optional<double> Tag::*;
constexpr Value kSums[] = {&Tag::failed, &Tag::vanished, &Tag::nonfinite, &Tag::sum,
                           &Tag::rate,   &Tag::busy,     &Tag::counted,   &Tag::in_flight};

void add_sums(Tag& group, const Tag& member) {
  group.calls += member.calls;
  for (const Value each : kSums) {
    const std::optional<double>& more = member.*each;
    std::optional<double>& sum = group.*each;
    sum = sum && more ? std::optional(*sum + *more) : std::nullopt;
  }
}

template <typename Better>
void join(std::optional<Extreme>& all, const std::optional<Extreme>& one, Better better) {
  if (!all || !one) {
    all = all ? all : one;
    if (all) all->is_exact = false;
    return;
  }
  all = Extreme{better(all->value, one->value), all->is_exact && one->is_exact};
}

// A tag without calls has no values, unless they are of a longer time.
bool has_extremes(const Tag& tag) { return valued_calls(tag) > 0 || tag.min || tag.max; }

void join_values(Tag& group, const Tag& member) {
  if (!has_extremes(member)) return;
  if (!has_extremes(group)) {
    group.min = member.min;
    group.max = member.max;
    group.slowest = member.slowest;
    return;
  }
  join(group.min, member.min, [](double a, double b) { return std::min(a, b); });
  join(group.max, member.max, [](double a, double b) { return std::max(a, b); });
  const auto rank = [](const SlowestMoment& moment) {
    return std::pair(!moment.is_p99, moment.value);
  };
  if (member.slowest && (!group.slowest || rank(*member.slowest) > rank(*group.slowest)))
    group.slowest = member.slowest;
}

// A single value needs no recorded distribution.
std::optional<Histogram> distribution_of(const Tag& tag) {
  if (is_of_histogram(tag.percentile_source)) return tag.distribution;
  if (tag.percentile_source != PercentileSource::OneValue) return {};
  Histogram values;
  values.add_bin(bins::bin_of(tag.max->value), 0, static_cast<std::uint64_t>(valued_calls(tag)));
  return values;
}

bool has_values(const Tag& tag) {
  return tag.percentile_source != PercentileSource::NoCalls &&
         tag.percentile_source != PercentileSource::NoFiniteValues;
}

// The group is as good as its worst member. A single value is as good as a distribution.
PercentileSource worse(PercentileSource one, PercentileSource other) {
  const auto merged = [](PercentileSource source) {
    return source == PercentileSource::OneValue ? PercentileSource::Histogram : source;
  };
  return std::max(merged(one), merged(other));
}

using TagList = std::vector<const Tag*>;

// Requires: several members have values. `if_not`: why percentiles without distributions cannot be
// combined.
void merge_distributions(Tag& group, const TagList& members, PercentileSource if_not) {
  group.percentile_source = PercentileSource::Histogram;
  group.percentiles = {};
  group.distribution.emplace();
  group.outside = 0;
  for (const Tag* const member : members) {
    const std::optional<Histogram> values = distribution_of(*member);
    group.percentile_source = worse(group.percentile_source, member->percentile_source);
    if (!values) {
      const bool is_recorded = member->percentile_source != PercentileSource::NotRecorded;
      if (is_recorded) group.percentile_source = if_not;
      group.distribution.reset();
      return;
    }
    group.distribution->merge(*values);
    if (is_of_histogram(member->percentile_source)) group.outside += member->outside;
  }
  take_percentiles(group);
}

void find_percentiles(Tag& group, const TagList& members, PercentileSource if_not) {
  TagList with_values;
  std::ranges::copy_if(members, std::back_inserter(with_values),
                       [](const Tag* tag) { return has_values(*tag); });
  if (with_values.size() > 1) return merge_distributions(group, with_values, if_not);
  const Tag& only = with_values.empty() ? *members.front() : *with_values.front();
  group.percentiles = only.percentiles;
  group.percentile_source = only.percentile_source;
  group.distribution = only.distribution;
  group.outside = only.outside;
}

void join_hosts(Tag& group, const Tag& member) {
  std::vector<std::uint16_t> hosts;
  std::ranges::set_union(group.hosts, member.hosts, std::back_inserter(hosts));
  group.hosts = std::move(hosts);
}

// Without regard to how calls ended.
Tag sum_of_parts(const TagList& parts, PercentileSource if_not) {
  Tag sum = *parts.front();
  if (parts.size() == 1) return sum;
  for (const Tag* const part : std::span(parts).subspan(1)) {
    if (part->unit != sum.unit) sum.unit.clear();
    if (part->description != sum.description) sum.description.clear();
    sum.is_folded = sum.is_folded || part->is_folded;
    sum.lacks_times = sum.lacks_times || part->lacks_times;
    join_values(sum, *part);
    add_sums(sum, *part);
    join_hosts(sum, *part);
  }
  sum.last.reset();
  find_mean(sum);
  if (has_histogram(sum.type)) find_percentiles(sum, parts, if_not);
  return sum;
}

Tag sum_of(std::string name, const std::vector<Tag*>& members, PercentileSource if_not) {
  if (members.size() == 1) {
    members.front()->name = std::move(name);
    return std::move(*members.front());
  }
  TagList completed;
  TagList failed;
  for (const Tag* const member : members) {
    completed.push_back(member->endings ? &member->endings->completed : member);
    if (member->endings) failed.push_back(&member->endings->failed);
  }
  Tag group = sum_of_parts(completed, if_not);
  if (!failed.empty()) group = with_failed(std::move(group), sum_of_parts(failed, if_not));
  group.name = std::move(name);
  for (const Tag* const member : members) group.is_folded = group.is_folded || member->is_folded;
  const std::optional<Ending> times_of = members.front()->times_of;
  return times_of ? with_times_of(std::move(group), *times_of) : group;
}

// Percentiles of nearly all calls, if hardly any fails.
void leave_out_failed(Tag& whole, const Tag& completed, const Tag& failed) {
  constexpr double kMostMissing = 0.01;  // as for histograms that lack some calls
  if (completed.percentile_source != PercentileSource::Histogram ||
      failed.calls > kMostMissing * whole.calls)
    return;
  whole.percentile_source = PercentileSource::NearlyAllCalls;
  whole.distribution = completed.distribution;
  take_percentiles(whole);
}

}  // namespace

Groups group_tags(std::vector<Tag> tags,
                  const std::function<std::optional<std::string>(const std::string&)>& group_of,
                  PercentileSource if_not) {
  std::map<std::pair<TraceType, std::string>, std::vector<std::size_t>> by_key;
  for (std::size_t i = 0; i < tags.size(); ++i)
    if (std::optional<std::string> name = group_of(tags[i].name))
      by_key[{tags[i].type, *std::move(name)}].push_back(i);
  std::vector<std::pair<Tag, std::vector<std::size_t>>> all;
  for (auto& [key, members] : by_key) {
    std::vector<Tag*> its;
    for (const std::size_t each : members) its.push_back(&tags[each]);
    all.emplace_back(sum_of(key.second, its, if_not), std::move(members));
  }
  std::ranges::sort(all, is_before, [](const auto& each) -> const Tag& { return each.first; });
  Groups groups;
  for (auto& [tag, members] : all) {
    groups.tags.push_back(std::move(tag));
    groups.members.push_back(std::move(members));
  }
  return groups;
}

Groups group_by_name(std::vector<Tag> tags) {
  return group_tags(std::move(tags),
                    [](const std::string& tag) { return std::string(bare_name(tag)); });
}

bool may_have_got_labels(const Tag& tag, const std::vector<Tag>& tags) {
  if (tag.type != TraceType::Transact || tag.calls > 0) return false;
  const Dimensions begun = parse_dimensions(tag.name).value_or(Dimensions{tag.name, {}});
  return std::ranges::any_of(tags, [&](const Tag& other) {
    if (other.type != tag.type || other.calls == 0 || bare_name(other.name) != begun.name)
      return false;
    const Dimensions more = parse_dimensions(other.name).value_or(Dimensions{});
    return std::ranges::all_of(begun.labels, [&](const Dimension& label) {
      const std::string* const value = more.find(label.key);
      return value != nullptr && *value == label.value;
    });
  });
}

Tag with_failed(Tag completed, Tag failed) {
  completed.times_of.reset();
  if (failed.calls == 0) return completed;
  Tag whole = completed;
  whole.lacks_times = failed.lacks_times;
  join_values(whole, failed);
  add_sums(whole, failed);
  join_hosts(whole, failed);
  find_mean(whole);
  find_percentiles(whole, {&completed, &failed}, PercentileSource::CompletedAndFailed);
  if (!whole.distribution) leave_out_failed(whole, completed, failed);
  whole.endings = std::make_shared<const Endings>(Endings{std::move(completed), std::move(failed)});
  return whole;
}

Tag without_calls(const Tag& tag, bool is_known) {
  Tag none;
  none.name = tag.name;
  none.type = tag.type;
  none.unit = tag.unit;
  none.description = tag.description;
  none.hosts = tag.hosts;
  if (!is_known) return none;
  none.failed = none.vanished = none.sum = none.rate = none.busy = 0;
  none.percentile_source = PercentileSource::NoCalls;
  return none;
}

Tag with_times_of(Tag tag, Ending ending) {
  if (tag.type != TraceType::Transact) return tag;
  if (!tag.endings)
    tag.endings =
        std::make_shared<const Endings>(Endings{tag, without_calls(tag, tag.failed.has_value())});
  tag.times_of = ending;
  static_cast<CallValues&>(tag) = tag.endings->of(ending);
  return tag;
}

std::vector<Grouping> groupings_of(const std::vector<Tag>& tags) {
  constexpr std::size_t kMostLabels = 8;
  Groups by_name = group_by_name(tags);
  if (by_name.tags.size() == tags.size()) return {};
  std::map<std::string, std::size_t> uses;
  for (const Tag& tag : tags)
    if (const auto parsed = parse_dimensions(tag.name))
      for (const Dimension& label : parsed->labels) ++uses[std::string(label.key)];
  std::vector<std::pair<std::string, std::size_t>> labels(uses.begin(), uses.end());
  std::ranges::stable_sort(labels, std::greater<>(), &std::pair<std::string, std::size_t>::second);
  labels.resize(std::min(labels.size(), kMostLabels));
  std::vector<Grouping> all;
  all.push_back({{}, std::move(by_name)});
  for (const auto& [label, count] : labels) {
    const LabelChoice choice{.by = std::vector{label}};
    all.push_back(
        {label, group_tags(tags, [&](const std::string& tag) { return choice.group_of(tag); })});
  }
  return all;
}

void find_mean(Tag& tag) {
  const double finite = finite_calls(tag);
  const bool is_known = tag.sum && finite > 0 && (tag.nonfinite || !may_have_nonfinite(tag));
  tag.mean = is_known ? std::optional(*tag.sum / finite) : std::nullopt;
}

bool is_before(const Tag& one, const Tag& other) {
  const auto key = [](const Tag& tag) {
    const bool is_of_completed = !tag.sum && tag.endings;
    const std::optional<double>& sum = is_of_completed ? tag.endings->completed.sum : tag.sum;
    const double time_s = tag.type == TraceType::Transact ? sum.value_or(0) : 0;
    return std::tuple<double, double, const std::string&, TraceType>(-time_s, -tag.calls, tag.name,
                                                                     tag.type);
  };
  return key(one) < key(other);
}

// The quantile is the middle of a bin. The greatest value is in the highest bin, or above, so the
// maximum is within the bin's error, also if it is not exact.
double quantile_in(const Tag& tag, double quantile) {
  double value = tag.distribution->quantile(quantile);
  if (tag.max && (tag.max->is_exact || tag.outside == 0)) value = std::min(value, tag.max->value);
  if (tag.min && tag.min->is_exact) value = std::max(value, tag.min->value);
  return value;
}

void take_percentiles(Tag& tag) {
  for (std::size_t i = 0; i < kPercentiles.size(); ++i)
    tag.percentiles[i] = quantile_in(tag, kPercentiles[i]);
}

}  // namespace pcp::trace::command
