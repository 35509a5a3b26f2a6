// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/run/run_totals.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "command/run/groups.hpp"

namespace pcp::trace::command {

namespace {

// Rates have seven digits, so counts made from rates are equal if they differ this little.
bool is_same_count(double one, double other) {
  return std::abs(one - other) < 0.5 + 1e-7 * std::max(one, other);
}

void add_known(std::optional<double>& sum, bool is_first, bool is_known, double value) {
  if (!is_known)
    sum.reset();
  else if (is_first || sum)
    sum = sum.value_or(0) + value;
}

// Joins the extremes of two parts. The result is exact only if both are.
template <typename Better>
void join(std::optional<Extreme>& all, const std::optional<double>& part, bool is_exact,
          bool is_first, Better better) {
  if (!part) {
    if (all) all->is_exact = false;
    return;
  }
  if (!all)
    all = Extreme{*part, is_exact && is_first};
  else
    all = Extreme{better(all->value, *part), all->is_exact && is_exact};
}

// Joins stretches that touch or overlap, in ascending order.
std::vector<Stretch> joined_stretches(std::vector<Stretch> stretches) {
  std::ranges::sort(stretches, {}, &Stretch::begin);
  std::vector<Stretch> all;
  for (const Stretch& each : stretches) {
    if (!all.empty() && each.begin <= all.back().end)
      all.back().end = std::max(all.back().end, each.end);
    else
      all.push_back(each);
  }
  return all;
}

bool has_one_value(const Tag& tag) {
  return tag.min && tag.max && tag.min->is_exact && tag.max->is_exact &&
         tag.min->value == tag.max->value;
}

// Agents show maxima of windows, which may not cover the whole run. So the greatest value is at
// least this one.
void raise(Tag& tag, double value) {
  if (tag.max && (tag.max->is_exact || tag.max->value >= value)) return;
  tag.max = Extreme{value, false};
  if (tag.slowest && tag.slowest->value < value) tag.slowest = SlowestMoment{{}, value};
}

// The distribution tells the bin of the greatest value, but not the value or its time.
void raise_to_distribution(Tag& tag) {
  if (!tag.distribution || tag.distribution->empty() || tag.outside > 0) return;
  const double least = tag.distribution->quantile_edges(1).least;
  if (least > 0 || tag.max) raise(tag, least);
}

// Agents give a maximum seven digits. A program may measure a span a little longer than the call.
bool is_the_longest(const LongestSpan& span, const Extreme& max) {
  return span.duration_s() >= max.value * (1 - 1e-6);
}

}  // namespace

Result<void> RunTotals::add(const ArchiveSource& source, ArchiveTotals& archive,
                            const ArchiveChanges& changes) {
  const WallTime begin = archive.samples().front();
  const WallTime end = archive.samples().back();
  for (const double start : changes.starts()) {
    std::vector<Part>& parts = parts_[{source.host(), start}];
    for (const Part& part : parts)
      if (part.begin < end && begin < part.end)
        return Error{source.path() + ": has calls of the same agent and time as " + part.archive +
                     "; name one of them"};
    parts.push_back({begin, end, source.path()});
  }
  run_.archives.push_back(source.path());
  if (const std::string why = changes.why_incomplete(); !why.empty())
    run_.incomplete.push_back({source.path(), why});
  run_.samples += archive.samples().size();
  if (run_.command.empty()) run_.command = source.command();
  if (run_.filter.empty()) run_.filter = source.filter();
  const std::uint16_t host = host_number(source.host());
  auto& of_host = stretches_[host];
  of_host.insert(of_host.end(), archive.stretches().begin(), archive.stretches().end());

  // True if the windows follow each other without a gap, or overlap, as for a recorded command.
  const auto interval = usual_interval(archive.samples());
  const bool is_in_step =
      !source.is_of_agent() ||
      (interval && archive.period_s() &&
       *archive.period_s() <= 1.05 * std::chrono::duration<double>(*interval).count());
  if (interval && (!run_.interval || *interval > *run_.interval)) run_.interval = interval;
  samples_.push_back(archive.samples());

  tags_.resize(std::max(tags_.size(), names_.size()));
  std::map<TraceType, std::map<std::string, MetricDescription>> descriptions;
  for (const TraceType type : kTraceTypes) descriptions[type] = source.descriptions(type);
  for (std::size_t i = 0; i < archive.tags().size(); ++i) {
    if (!archive.tags()[i].is_there) continue;
    tags_[i].tag.type = names_.type(i);
    const auto& of_type = descriptions[names_.type(i)];
    if (const auto its = of_type.find(names_.name(i)); its != of_type.end())
      describe(tags_[i].tag, its->second);
    add_tag(tags_[i], archive.tags()[i], source, names_.ending(i), is_in_step);
    auto& hosts = tags_[i].tag.hosts;
    if (hosts.empty() || hosts.back() != host) hosts.push_back(host);
  }
  return {};
}

std::uint16_t RunTotals::host_number(const std::string& host) {
  const auto found = std::find(run_.hosts.begin(), run_.hosts.end(), host);
  const auto number = static_cast<std::uint16_t>(found - run_.hosts.begin());
  if (found == run_.hosts.end()) {
    run_.hosts.push_back(host);
    stretches_.emplace_back();
  }
  return number;
}

// An archive without failed calls tells that of the completed ones.
void RunTotals::add_failed(Tag& tag, const TagInArchive& its, const ArchiveSource& source,
                           Ending ending, bool is_first) {
  if (tag.type != TraceType::Transact) return;
  const bool is_known = source.has(tag.type, Quantity::Calls, Ending::Failed);
  const bool has_failed = ending == Ending::Failed;
  add_known(tag.failed, is_first, is_known, has_failed ? its.grown_by(Quantity::Calls) : 0);
  if (has_failed) tag.vanished = 0;
  tag.lacks_times |= has_failed && its.unsummed > 0;
}

void RunTotals::add_tag(Merged& merged, TagInArchive& its, const ArchiveSource& source,
                        Ending ending, bool is_in_step) {
  Tag& tag = merged.tag;
  const bool is_first = merged.archives++ == 0;
  const double calls = its.grown_by(Quantity::Calls);
  const auto add = [&](std::optional<double>& sum, Quantity quantity) {
    const double grown = its.grown_by(quantity);
    const bool is_whole =
        ending == Ending::Completed || quantity != Quantity::Sum || its.unsummed == 0;
    add_known(sum, is_first,
              source.has(tag.type, quantity, ending) && std::isfinite(grown) && is_whole, grown);
  };
  tag.calls += calls;
  add(tag.vanished, Quantity::Vanished);
  add(tag.sum, Quantity::Sum);
  add_failed(tag, its, source, ending, is_first);
  add(tag.counted, Quantity::Counted);
  add(tag.nonfinite, Quantity::Nonfinite);
  if (tag.unit.empty()) tag.unit = source.unit_of(tag.type);
  if (its.last && (!tag.last || its.last_at >= merged.last_at)) {
    tag.last = its.last;
    merged.last_at = its.last_at;
  }
  merged.is_of_agent = merged.is_of_agent || source.is_of_agent();
  merged.has_percentiles = merged.has_percentiles || its.has_percentiles;
  if (calls == 0) return;

  add_extremes(tag, its, calls, is_in_step);
  merged.is_from_zero = its.from_zero_in != 0;
  if (its.slowest && (!tag.slowest || its.slowest->value > tag.slowest->value))
    tag.slowest = its.slowest;
  const bool is_only = merged.archives_with_calls++ == 0;
  merged.only_window.reset();
  if (is_only && its.fullest && is_same_count(its.fullest->calls, calls))
    merged.only_window = its.fullest;
  add_distribution(merged, its);
}

void RunTotals::describe(Tag& tag, const MetricDescription& its) {
  if (tag.unit.empty() && tag.type != TraceType::Transact) tag.unit = its.unit;
  if (tag.description.empty()) tag.description = its.text;
}

void RunTotals::add_extremes(Tag& tag, const TagInArchive& its, double calls, bool is_in_step) {
  const bool is_first = tag.calls == calls;
  const bool in_one = its.fullest && is_same_count(its.fullest->calls, calls);
  const bool in_all = is_in_step && is_same_count(its.calls_in_windows, calls);
  join(tag.min, in_one ? its.fullest->of(Quantity::Min) : its.least, in_one || in_all, is_first,
       [](double one, double other) { return std::min(one, other); });
  join(tag.max, in_one ? its.fullest->of(Quantity::Max) : its.greatest, in_one || in_all, is_first,
       [](double one, double other) { return std::max(one, other); });
}

void RunTotals::add_distribution(Merged& merged, TagInArchive& its) {
  const HistogramSlices::Found found = its.distribution.finish();
  const bool has_texts = found.has_texts || !its.before.text.empty();
  if (!has_texts || found.has_invalid_text) return;
  ++merged.distributions;
  merged.unbinned += static_cast<double>(found.unbinned);
  merged.tag.outside += its.outside;
  if (!merged.tag.distribution) merged.tag.distribution.emplace();
  for (const TimedHistogram& slice : found.slices) merged.tag.distribution->merge(slice.values);
}

Totals RunTotals::finish() {
  finish_times();
  Totals totals{run_, {}};
  std::vector<std::pair<Tag, std::vector<std::size_t>>> all;
  const auto is_there = [this](std::size_t i) { return tags_[i].archives > 0; };
  for (std::size_t i = 0; i < tags_.size(); ++i) {
    if (!is_there(i)) continue;
    tags_[i].tag.name = names_.name(i);
    finish_tag(tags_[i]);
  }
  for (std::size_t i = 0; i < tags_.size(); ++i) {
    if (!is_there(i)) continue;
    std::optional<std::size_t> other = names_.other_ending(i);
    if (other && (*other >= tags_.size() || !is_there(*other))) other.reset();
    const bool has_failed = names_.ending(i) == Ending::Failed;
    if (has_failed && other) continue;  // with the completed ones
    std::vector<std::size_t> numbers{i};
    if (other) numbers.push_back(*other);
    all.emplace_back(take_whole(i, has_failed ? i : other), std::move(numbers));
  }
  std::ranges::sort(all, is_before, [](const auto& each) -> const Tag& { return each.first; });
  for (auto& [tag, numbers] : all) {
    totals.tags.push_back(std::move(tag));
    order_.push_back(std::move(numbers));
  }
  return totals;
}

// An archive may have failed calls without completed ones.
Tag RunTotals::take_whole(std::size_t number, std::optional<std::size_t> of_failed) {
  Tag whole = of_failed == number ? without_calls(tags_[number].tag) : std::move(tags_[number].tag);
  if (of_failed) whole = with_failed(std::move(whole), std::move(tags_[*of_failed].tag));
  return run_.times_of ? with_times_of(std::move(whole), *run_.times_of) : whole;
}

void RunTotals::finish_times() {
  std::vector<Stretch> all;
  for (std::size_t host = 0; host < stretches_.size(); ++host) {
    const std::vector<Stretch> its = joined_stretches(stretches_[host]);
    for (std::size_t i = 1; i < its.size(); ++i)
      run_.gaps.push_back({its[i - 1].end, its[i].begin, static_cast<std::uint16_t>(host)});
    all.insert(all.end(), stretches_[host].begin(), stretches_[host].end());
  }
  std::ranges::sort(run_.gaps, {}, &Gap::begin);
  const std::vector<Stretch> joined = joined_stretches(all);
  if (joined.empty()) return;
  run_.begin = joined.front().begin;
  run_.end = joined.back().end;
  run_.unrecorded = run_.end - run_.begin;
  for (const Stretch& each : are_runs_ ? all : joined) run_.unrecorded -= each.end - each.begin;
}

// Some archives do not have the number of non-finite values. But if a distribution has as many
// values as there were calls, all are finite.
void RunTotals::prove_finite(Merged& merged) {
  Tag& tag = merged.tag;
  if (tag.nonfinite || tag.type != TraceType::Observe) return;
  const double binned = tag.distribution ? static_cast<double>(tag.distribution->total()) : 0;
  if (tag.calls == 0 || (binned == tag.calls && tag.outside == 0)) tag.nonfinite = 0;
}

// The sum is the only value, if finite; 0 s is no real duration.
void RunTotals::take_only_value(Merged& merged) {
  Tag& tag = merged.tag;
  if (tag.calls != 1 || !merged.is_from_zero || !tag.sum) return;
  if (tag.type == TraceType::Observe ? tag.last != tag.sum : *tag.sum <= 0) return;
  tag.min = tag.max = Extreme{*tag.sum, true};
  if (tag.type == TraceType::Observe) tag.nonfinite = 0;
}

void RunTotals::finish_tag(Merged& merged) const {
  Tag& tag = merged.tag;
  const double elapsed_s = run_.elapsed_s();
  if (elapsed_s > 0) tag.rate = tag.calls / elapsed_s;
  for (std::optional<double>* const sum : {&tag.sum, &tag.counted})
    if (*sum && !std::isfinite(**sum)) sum->reset();
  if (tag.sum && tag.type == TraceType::Transact && elapsed_s > 0) tag.busy = *tag.sum / elapsed_s;
  if (!has_histogram(tag.type)) return;
  prove_finite(merged);
  take_only_value(merged);
  find_mean(tag);
  // An infinite value may lie beyond.
  for (std::optional<Extreme>* const extreme : {&tag.min, &tag.max})
    if (*extreme && may_have_nonfinite(tag)) (*extreme)->is_exact = false;
  raise_to_distribution(tag);
  find_percentiles(merged);
}

PercentileSource RunTotals::source_of_percentiles(const Merged& merged) {
  constexpr double kMostMissing = 0.01;  // of all calls
  constexpr double kFewest = 0.5;
  constexpr double kMostNearby = 0.2;
  const Tag& tag = merged.tag;
  const bool of_all_archives =
      tag.distribution && merged.distributions == merged.archives_with_calls;
  const double binned = of_all_archives ? static_cast<double>(tag.distribution->total()) : 0;
  const double finite = finite_calls(tag);
  const double missing = finite - (binned - tag.outside);
  if (tag.calls == 0) return PercentileSource::NoCalls;
  if (finite == 0) return PercentileSource::NoFiniteValues;
  if (missing == 0 && tag.outside == 0 && merged.unbinned == 0) return PercentileSource::Histogram;
  if (binned > 0 && missing >= 0 &&
      std::max(missing, merged.unbinned) + tag.outside <= kMostMissing * finite)
    return PercentileSource::NearlyAllCalls;
  const bool has_binned_all = merged.unbinned <= kMostMissing * binned;
  if (merged.is_of_agent && missing >= 0 && binned >= kFewest * finite && has_binned_all)
    return PercentileSource::WholeIntervals;
  if (has_one_value(tag)) return PercentileSource::OneValue;
  // The window's percentiles lack what the distribution lacks.
  const bool lacks_some = tag.distribution && (binned < finite || merged.unbinned > 0);
  if (merged.only_window && merged.has_percentiles && !lacks_some)
    return PercentileSource::OneWindow;
  if (binned > 0 && std::abs(missing) + tag.outside <= kMostNearby * finite && has_binned_all)
    return PercentileSource::NearbyTimes;
  if (tag.distribution) return PercentileSource::IncompleteHistogram;
  if (!merged.has_percentiles) return PercentileSource::NotRecorded;
  return merged.archives_with_calls > 1 ? PercentileSource::SeveralHosts
                                        : PercentileSource::SeveralWindows;
}

void RunTotals::find_percentiles(Merged& merged) {
  Tag& tag = merged.tag;
  tag.percentile_source = source_of_percentiles(merged);
  if (is_of_histogram(tag.percentile_source)) take_percentiles(tag);
  if (tag.percentile_source == PercentileSource::OneValue) tag.percentiles.fill(tag.max->value);
  if (tag.percentile_source != PercentileSource::OneWindow) return;
  for (std::size_t i = 0; i < kPercentiles.size(); ++i)
    if (const auto& value = merged.only_window->values[index_of(Quantity::P50) + i])
      // An agent gives the maximum with seven digits only.
      tag.percentiles[i] = tag.max ? std::min(*value, tag.max->value) : *value;
}

void raise_to_spans(Totals& totals, const RecordedSpans& spans, const LabelChoice& choice) {
  std::map<std::string, LongestSpan> longest;  // by group
  for (const auto& [tag, its] : spans.longest) {
    if (its.end < totals.run.begin || its.end > totals.run.end) continue;
    const std::optional<std::string> group = choice.group_of(tag);
    if (!group) continue;
    LongestSpan& known = longest[*group];
    if (its.duration_ns > known.duration_ns) known = its;
  }
  for (Tag& tag : totals.tags) {
    if (tag.type != TraceType::Transact || valued_calls(tag) == 0) continue;
    const auto found = longest.find(tag.name);
    if (found == longest.end()) continue;
    const LongestSpan& its = found->second;
    raise(tag, its.duration_s());
    if (tag.max && is_the_longest(its, *tag.max))
      tag.slowest = SlowestMoment{its.begin(), tag.max->value, false, true};
  }
}

}  // namespace pcp::trace::command
