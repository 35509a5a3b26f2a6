// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/sample_writer.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace pcp::trace::command {

namespace {

// Descriptions of all instances of a domain are written as a whole, so their interval grows: one
// second per hundred instances.
bool may_be_described(std::size_t instances, Stamp last, Stamp at) {
  constexpr std::size_t kInASecond = 100;
  return at.seconds - last.seconds >= static_cast<std::int64_t>(instances / kInASecond);
}

// Spreads each bit over all bits.
std::uint64_t mixed(std::uint64_t number) {
  number = (number ^ number >> 32) * 0x9e3779b97f4a7c15;
  number = (number ^ number >> 29) * 0xbf58476d1ce4e5b9;
  return number ^ number >> 32;
}

// The bytes of a value; for a longer one a digest.
std::uint64_t value_as_number(int format, const pmValue& value) {
  if (format == PM_VAL_INSITU) return static_cast<std::uint32_t>(value.value.lval);
  const pmValueBlock& block = *value.value.pval;
  const std::size_t bytes = block.vlen - PM_VAL_HDR_SIZE;
  std::uint64_t number = 0;
  if (bytes > sizeof number) return std::hash<std::string_view>{}({block.vbuf, bytes});
  std::memcpy(&number, block.vbuf, bytes);
  return number;
}

}  // namespace

void InstanceChanges::note(int instance, pmID metric, std::uint64_t value) {
  Instance& its = instances_[instance];
  its.is_there = true;
  its.now += mixed(mixed(value) + metric);
}

void InstanceChanges::end_sample(Number sample) {
  has_newcomers_ = false;
  for (auto next = instances_.begin(); next != instances_.end();) {
    Instance& its = next->second;
    if (!its.is_there) {
      next = instances_.erase(next);
      continue;
    }
    if (its.changed == 0) has_newcomers_ = true;
    if (its.changed == 0 || its.now != its.before) its.changed = sample;
    its.before = its.now;
    its.now = 0;
    its.is_there = false;
    ++next;
  }
}

SampleWriter::SampleWriter(RecordedAgent& agent, ArchiveWriter& writer, Stamp at)
    : agent_(agent), writer_(writer), begin_(at) {
  describe_metrics(at);
}

void SampleWriter::describe_metrics(Stamp at) {
  writer_.add_labels(at, PM_LABEL_CONTEXT, PM_IN_NULL,
                     agent_.labels(PM_LABEL_CONTEXT, PM_IN_NULL).all());
  const auto add_texts = [this](unsigned of_what, unsigned of) {
    for (const unsigned length : {unsigned{PM_TEXT_ONELINE}, unsigned{PM_TEXT_HELP}})
      if (const std::string text = agent_.text(of_what | length, of); !text.empty())
        writer_.add_text(of_what | length, of, text);
  };
  const auto add_labels = [this, at](unsigned type, unsigned of) {
    writer_.add_labels(at, type, of, agent_.labels(type, of).all());
  };
  for (const auto& [name, description] : agent_.metrics()) {
    const pmID metric = description.pmid;
    writer_.add_metric(description, name);
    add_texts(PM_TEXT_PMID, metric);
    if (all_.empty()) add_labels(PM_LABEL_DOMAIN, pmID_domain(metric));
    if (description.type == PM_TYPE_EVENT) {
      has_events_ = true;
      continue;
    }
    metrics_[metric] = description;
    all_.push_back(metric);
    const bool of_instances = description.indom != PM_INDOM_NULL;
    if (!of_instances || !is_distribution(metric)) without_distributions_.push_back(metric);
    if (of_instances && domains_.try_emplace(description.indom).second) {
      add_texts(PM_TEXT_INDOM, description.indom);
      add_labels(PM_LABEL_INDOM, description.indom);
    }
  }
}

Result<void> SampleWriter::sample(Extent extent, Stamp at, Instant now, const Sample& before) {
  Result<Sample> all = agent_.read(extent == Extent::Changes ? without_distributions_ : all_, now);
  if (!all) {
    // When the agent returns, its instances may have changed.
    for (auto& [domain, its] : domains_) its.instances_are_due = its.labels_are_due = true;
    return all.error();
  }
  ++samples_;
  note(*all);
  const bool labels_changed = agent_.labels_changed();
  const bool goes_back = may_go_back_to_begin();
  for (auto& [domain, its] : domains_) {
    if (labels_changed) its.labels_are_due = true;
    describe_instances(domain, its, extent, goes_back ? begin_ : at);
  }
  if (goes_back)
    if (const ZeroSample begun = counters_at_begin(*all); !begun.sample().empty())
      writer_.add_sample(begin_, begun.sample());
  if (!before.empty()) writer_.add_sample(at, before);
  writer_.add_sample(at, part(*std::move(all), extent));
  if (extent != Extent::Changes) with_distributions_ = samples_;
  return {};
}

// The second sample shows which tags were at zero in the first. PCP's tools need two values
// of a counter for its first rate.
bool SampleWriter::may_go_back_to_begin() const {
  return agent_.begins_at_zero() && samples_ == 2 && writer_.last() == begin_;
}

ZeroSample SampleWriter::counters_at_begin(const Sample& all) const {
  ZeroSample zeros;
  for (MetricValues each : all) {
    const pmDesc& metric = metrics_.at(each.metric);
    const bool is_of_tags = metric.indom != PM_INDOM_NULL && !is_distribution(each.metric);
    if (!is_of_tags || metric.sem != PM_SEM_COUNTER) continue;
    const Instances& described = writer_.instances(metric.indom);
    std::erase_if(each.values,
                  [&](const pmValue& value) { return !described.contains(value.inst); });
    if (!each.values.empty()) zeros.add(std::move(each));
  }
  return zeros;
}

void SampleWriter::note(const Sample& all) {
  for (const MetricValues& each : all) {
    const pmDesc& metric = metrics_.at(each.metric);
    if (metric.indom == PM_INDOM_NULL || is_distribution(each.metric)) continue;
    InstanceChanges& changes = domains_.at(metric.indom).changes;
    for (const pmValue& value : each.values)
      changes.note(value.inst, each.metric, value_as_number(each.format, value));
  }
  for (auto& [domain, its] : domains_) {
    its.changes.end_sample(samples_);
    its.added.clear();
    if (its.changes.has_newcomers()) its.instances_are_due = its.labels_are_due = true;
  }
}

void SampleWriter::describe_instances(pmInDom domain, Domain& its, Extent extent, Stamp at) {
  const bool may_all = extent == Extent::Everything ||
                       may_be_described(writer_.instances(domain).size(), its.described_at, at);
  if (its.instances_are_due && (may_all || writer_.adds_instances_cheaply())) {
    add_instances(domain, its, at);
    its.instances_are_due = false;
    if (may_all) its.described_at = at;
  }
  if (its.labels_are_due && may_all && !writer_.instances(domain).empty()) {
    writer_.add_labels(at, PM_LABEL_INSTANCES, domain,
                       agent_.labels(PM_LABEL_INSTANCES, domain).all());
    its.labels_are_due = false;
    its.described_at = at;
  }
}

void SampleWriter::add_instances(pmInDom domain, Domain& its, Stamp at) {
  const Instances& described = writer_.instances(domain);
  for (auto& [number, name] : agent_.instances(domain)) {
    const auto known = described.find(number);
    if (known == described.end() || known->second != name) its.added[number] = name;
  }
  writer_.add_instances(at, domain, its.added);
}

std::size_t SampleWriter::instances() const {
  std::size_t all = 0;
  for (const auto& [domain, its] : domains_) all += writer_.instances(domain).size();
  return all;
}

Sample SampleWriter::part(Sample all, Extent extent) const {
  const InstanceChanges::Number previous = samples_ - 1;
  const bool has_all = extent == Extent::Everything || agent_.gives_all_instances();
  for (MetricValues& each : all) {
    const pmInDom domain = metrics_.at(each.metric).indom;
    if (domain == PM_INDOM_NULL) continue;
    const Domain& its = domains_.at(domain);
    const Instances& described = writer_.instances(domain);
    const auto since = is_distribution(each.metric) ? with_distributions_ : previous;
    std::erase_if(each.values, [&](const pmValue& value) {
      const int instance = value.inst;
      if (!described.contains(instance)) return true;
      return !has_all && !its.added.contains(instance) &&
             its.changes.last_change(instance) <= since;
    });
  }
  // PCP's tools show a metric's first record, so this record should have values.
  if (!has_all && (samples_ > 1 || agent_.begins_at_zero()))
    std::erase_if(all, [](const MetricValues& each) { return each.values.empty(); });
  return all;
}

}  // namespace pcp::trace::command
