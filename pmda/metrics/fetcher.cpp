// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/fetcher.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "collector/engine/cumulative_histogram.hpp"
#include "metrics/event_array.hpp"

namespace pcp::trace::agent {

namespace {

// The size of a value's block; 0 if the value is stored in the list itself.
std::size_t block_bytes(int type) {
  switch (type) {
    case PM_TYPE_FLOAT:
      return PM_VAL_HDR_SIZE + sizeof(float);
    case PM_TYPE_U64:
    case PM_TYPE_DOUBLE:
      return PM_VAL_HDR_SIZE + sizeof(double);
    default:
      return 0;
  }
}

pmID pmid_of(int domain, const Metric& metric) {
  return pmID_build(static_cast<unsigned>(domain), metric.cluster, metric.item);
}

// The instances of a domain that a monitor wants: PCP's profile, prepared for fast look-ups.
class InstanceFilter {
 public:
  // Requires: `profile` is null (all instances) or valid now; it is not kept.
  InstanceFilter(const pmProfile* profile, pmInDom indom) {
    if (!profile) return;
    included_ = profile->state == PM_PROFILE_INCLUDE;
    for (int i = 0; i < profile->profile_len; ++i) {
      const pmInDomProfile& part = profile->profile[i];
      if (part.indom != indom) continue;
      included_ = part.state == PM_PROFILE_INCLUDE;
      exceptions_.assign(part.instances, part.instances + part.instances_len);
      std::sort(exceptions_.begin(), exceptions_.end());
    }
  }

  bool includes(int instance) const {
    return std::binary_search(exceptions_.begin(), exceptions_.end(), instance) != included_;
  }

 private:
  bool included_ = true;         // for instances that are not listed
  std::vector<int> exceptions_;  // the listed instances, sorted
};

}  // namespace

ValueSet::ValueSet(pmID pmid, int type, std::size_t capacity)
    : type_(type),
      capacity_(capacity),
      memory_(new char[sizeof(pmValueSet) + capacity * sizeof(pmValue)]),
      blocks_(new char[capacity * block_bytes(type)]),
      set_(new (memory_.get()) pmValueSet{}) {
  set_->pmid = pmid;
  set_->valfmt = type == PM_TYPE_32 || type == PM_TYPE_U32 ? PM_VAL_INSITU : PM_VAL_DPTR;
}

ValueSet ValueSet::failed(pmID pmid, int error) {
  ValueSet set(pmid, PM_TYPE_32, 0);
  set.set_->numval = error;
  return set;
}

void ValueSet::add(int instance, const pmAtomValue& value) {
  if (static_cast<std::size_t>(set_->numval) == capacity_) return;
  // Addressed by offset, because the declared list has only one element.
  char* const address = memory_.get() + offsetof(pmValueSet, vlist) +
                        static_cast<std::size_t>(set_->numval) * sizeof(pmValue);
  pmValue* const entry = new (address) pmValue{};
  entry->inst = instance;
  if (set_->valfmt == PM_VAL_INSITU) {
    entry->value.lval = value.l;
  } else if (type_ == PM_TYPE_STRING) {
    entry->value.pval = make_own_block(value.cp, std::strlen(value.cp) + 1);
  } else if (type_ == PM_TYPE_EVENT) {
    const char* const array = reinterpret_cast<const char*>(value.vbp);
    entry->value.pval =
        make_own_block(array + PM_VAL_HDR_SIZE, value.vbp->vlen - std::size_t{PM_VAL_HDR_SIZE});
  } else {
    entry->value.pval =
        make_block(blocks_.get() + used_, &value, block_bytes(type_) - PM_VAL_HDR_SIZE);
    used_ += block_bytes(type_);
  }
  ++set_->numval;
}

// Allocates the block separately.
pmValueBlock* ValueSet::make_own_block(const void* value, std::size_t bytes) {
  strings_.push_back(
      std::make_unique<char[]>(PM_VAL_HDR_SIZE + (bytes + 3) / 4 * 4));  // whole words
  return make_block(strings_.back().get(), value, bytes);
}

pmValueBlock* ValueSet::make_block(char* address, const void* value, std::size_t bytes) const {
  // Built locally and copied: setting a bit field would first load the rest from distant memory.
  pmValueBlock header{};
  header.vtype = static_cast<unsigned char>(type_);
  header.vlen = (PM_VAL_HDR_SIZE + bytes) & PM_VAL_VLEN_MAX;
  auto* const block = new (address) pmValueBlock;
  std::memcpy(address, &header, PM_VAL_HDR_SIZE);
  std::memcpy(address + PM_VAL_HDR_SIZE, value, bytes);
  return block;
}

void FetchResult::begin(std::size_t metrics) {
  sets_ = std::vector<ValueSet>(metrics);
  memory_.reset(new char[sizeof(pmapi::AgentResult) + metrics * sizeof(pmValueSet*)]);
  result_ = new (memory_.get()) pmapi::AgentResult{};
  result_->numpmid = static_cast<int>(metrics);
}

ValueSet& FetchResult::put(std::size_t index, ValueSet set) {
  sets_[index] = std::move(set);
  pmValueSet* const values = sets_[index].get();
  std::memcpy(memory_.get() + offsetof(pmapi::AgentResult, vset) + index * sizeof(pmValueSet*),
              &values, sizeof(pmValueSet*));
  return sets_[index];
}

Fetcher::Fetcher(const std::vector<Metric>& table, int domain, Reader reader,
                 ClientInstances& clients, std::function<AgentStatus(Instant)> status)
    : domain_(domain),
      reader_(reader),
      client_instances_(clients),
      gather_status_(std::move(status)) {
  for (const Metric& metric : table) metrics_[pmid_of(domain, metric)] = &metric;
}

pmapi::AgentResult* Fetcher::fetch(const pmID* pmids, std::size_t count, const pmProfile* profile,
                                   Instant now) {
  result_.begin(count);
  std::array<std::vector<Asked>, kIndomCount + 1> asked;
  std::array<std::vector<Asked>, kIndomCount + 1> asked_histograms;
  std::vector<Asked> asked_failures;
  std::vector<Asked> asked_events;
  for (std::size_t index = 0; index < count; ++index) {
    if (const Metric* const metric = find(pmids[index])) {
      const Asked one{pmids[index], metric, index};
      if (metric->read.reads<HistogramText>())
        (metric->outcome == Outcome::Failed ? asked_failures : asked_histograms[metric->indom])
            .push_back(one);
      else if (metric->read.reads<EventBlock>())
        asked_events.push_back(one);
      else
        asked[metric->indom].push_back(one);
    } else {
      result_.put(index, ValueSet::failed(pmids[index], PM_ERR_PMID));
    }
  }
  histogram_room_ = kMaxHistogramBytes;
  for (const TraceType type : kTraceTypes) {
    add_tags(type, asked[index_of(type)], profile, now);
    add_histograms(type, Outcome::Completed, asked_histograms[index_of(type)], profile, now);
  }
  add_histograms(TraceType::Transact, Outcome::Failed, asked_failures, profile, now);
  add_clients(asked[kClientIndom], profile, now);
  add_events(asked_events, now);  // before add_status(), which counts the waiting spans
  add_status(asked[kNoIndom], now);
  return result_.get();
}

void Fetcher::release() { result_.begin(0); }

const Metric* Fetcher::find(pmID pmid) const {
  const auto found = metrics_.find(pmid);
  return found == metrics_.end() ? nullptr : found->second;
}

void Fetcher::add_tags(TraceType type, AskedOfIndom asked, const pmProfile* profile, Instant now) {
  if (asked.empty()) return;
  const InstanceFilter filter(profile, indom(static_cast<unsigned>(index_of(type))));
  const std::size_t count = reader_.instance_count(type);
  const double period_s = std::chrono::duration<double>(reader_.engine_options().period).count();
  const std::vector<ValueSet*> sets = make_sets(asked, count);
  reader_.tag_values(type, count, now, [&](std::vector<TagValues>& slice) {
    std::erase_if(slice, [&](const TagValues& tag) { return !filter.includes(tag.instance); });
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const ValueReader& read = asked[i].metric->read;
      ReadValue value;
      for (const TagValues& tag : slice) {
        if (read(value, tag, period_s)) sets[i]->add(tag.instance, value.atom);
      }
    }
  });
}

// Each text counts once for each metric. After the first text without room, no more are copied.
void Fetcher::add_histograms(TraceType type, Outcome outcome, AskedOfIndom asked,
                             const pmProfile* profile, Instant now) {
  if (asked.empty()) return;
  const InstanceFilter filter(profile, indom(static_cast<unsigned>(index_of(type))));
  const std::vector<ValueSet*> sets = make_sets(asked, reader_.instance_count(type));
  reader_.begin_cumulative(now);
  reader_.cumulative(
      type, outcome, now,
      [&](std::int32_t instance) {
        if (!filter.includes(instance)) return false;
        if (histogram_room_ == 0) ++histograms_left_out_;
        return histogram_room_ > 0;
      },
      [&](CumulativeSample&& sample) {
        const auto since = reader_.wall_time(sample.since).time_since_epoch();
        const HistogramText text{
            cumulative_histogram_text(static_cast<std::uint64_t>(since.count()), sample.count,
                                      sample.unbinned, sample.packed)};
        const std::size_t bytes = asked.size() * text.text.size();
        const bool has_room = bytes <= histogram_room_;
        if (sample.left_out || !has_room) {
          if (!sample.left_out) histogram_room_ = 0;
          ++histograms_left_out_;
          return;
        }
        histogram_room_ -= bytes;
        ReadValue value;
        for (std::size_t i = 0; i < asked.size(); ++i)
          if (asked[i].metric->read(value, text)) sets[i]->add(sample.instance, value.atom);
      });
}

void Fetcher::add_clients(AskedOfIndom asked, const pmProfile* profile, Instant now) {
  if (asked.empty()) return;
  client_instances_.refresh(reader_, now);
  const InstanceFilter filter(profile, indom(kClientIndom));
  const std::vector<ValueSet*> sets = make_sets(asked, client_instances_.all().size());
  for (const ClientInstance& client : client_instances_.all()) {
    if (!filter.includes(client.number)) continue;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const ValueReader& read = asked[i].metric->read;
      ReadValue value;
      if (read(value, client.view.counters)) sets[i]->add(client.number, value.atom);
    }
  }
}

// If a fetch names the events twice, both get the same ones.
void Fetcher::add_events(AskedOfIndom asked, Instant now) {
  if (asked.empty()) return;
  const SpanAsker asker = desk_ == nullptr ? SpanAsker{} : desk_->asker(now);
  if (asker.error != 0) {
    for (const Asked& each : asked)
      result_.put(each.index, ValueSet::failed(each.pmid, asker.error));
    return;
  }
  const std::vector<ValueSet*> sets = make_sets(asked, 1);
  if (asker.monitor == nullptr) return;
  const std::size_t most_bytes = asker.most_bytes / asked.size();
  const SpanReading reading = asker.monitor->read(most_bytes / kLeastEventBytes + 1);
  const EventArray events(domain_, reading, most_bytes, wall_now());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    ReadValue value;
    if (asked[i].metric->read(value, EventBlock{events.get()}))
      sets[i]->add(static_cast<int>(PM_IN_NULL), value.atom);
  }
  asker.monitor->advance(reading, events.taken());
}

void Fetcher::add_status(AskedOfIndom asked, Instant now) {
  if (asked.empty()) return;
  const AgentStatus status = gather_status_(now);
  const std::vector<ValueSet*> sets = make_sets(asked, 1);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const ValueReader& read = asked[i].metric->read;
    ReadValue value;
    if (read(value, status)) sets[i]->add(static_cast<int>(PM_IN_NULL), value.atom);
  }
}

// Makes a set for each metric, in order, with room for `capacity` values.
std::vector<ValueSet*> Fetcher::make_sets(AskedOfIndom asked, std::size_t capacity) {
  std::vector<ValueSet*> sets;
  for (const Asked& each : asked) {
    sets.push_back(&result_.put(each.index, ValueSet(each.pmid, each.metric->type(), capacity)));
  }
  return sets;
}

pmInDom Fetcher::indom(unsigned serial) const {
  return pmInDom_build(static_cast<unsigned>(domain_), serial);
}

}  // namespace pcp::trace::agent
