#include "agent/fetcher.hpp"

#include <algorithm>
#include <bitset>
#include <utility>

#include "agent/instance_filter.hpp"
#include "agent/tag_instances.hpp"

namespace pcp::trace::agent {

namespace {

pmID pmid_of(int domain, const Metric& metric) {
  return pmID_build(static_cast<unsigned>(domain), metric.cluster, metric.item);
}

}  // namespace

Fetcher::Fetcher(const std::vector<Metric>& table, int domain, Shared& shared,
                 ClientInstances& clients, std::function<AgentStatus(Time)> status)
    : domain_(domain),
      shared_(shared),
      client_instances_(clients),
      gather_status_(std::move(status)),
      period_s_(std::chrono::duration<double>(shared.engine.options().period).count()) {
  for (const Metric& metric : table) metrics_[pmid_of(domain, metric)] = &metric;
}

pmResult* Fetcher::fetch(const pmID* pmids, std::size_t count, const pmProfile* profile, Time now) {
  take_snapshot(pmids, count, profile, now);
  result_.begin(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Metric* const asked = find(pmids[i]);
    result_.add(
        asked ? std::visit([&](const auto& reader) { return values(pmids[i], *asked, reader); },
                           asked->reader)
              : ValueSet::failed(pmids[i], PM_ERR_PMID));
  }
  return result_.get();
}

void Fetcher::release() {
  result_.begin(0);
  for (auto& tags : tags_) tags = std::vector<TagValues>();  // gives its memory back
  clients_.clear();
}

const Metric* Fetcher::find(pmID pmid) const {
  const auto found = metrics_.find(pmid);
  return found == metrics_.end() ? nullptr : found->second;
}

void Fetcher::take_snapshot(const pmID* pmids, std::size_t count, const pmProfile* profile,
                            Time now) {
  std::bitset<kIndomCount + 1> asked;
  for (std::size_t i = 0; i < count; ++i) {
    if (const Metric* const known = find(pmids[i])) asked.set(known->indom);
  }
  for (const TraceType type : kTraceTypes) {
    if (asked.test(index_of(type))) copy_tags(type, profile, now);
  }
  if (asked.test(kClientIndom)) copy_clients(profile, now);
  if (asked.test(kNoIndom)) status_.emplace(gather_status_(now));
}

void Fetcher::copy_tags(TraceType type, const pmProfile* profile, Time now) {
  const InstanceFilter filter(profile, indom(static_cast<unsigned>(index_of(type))));
  std::vector<TagValues>& tags = tags_[index_of(type)];
  tags.clear();
  std::vector<TagValues> slice;
  // Only the main thread resets, so that nothing moves between two slices.
  for (std::size_t from = 0, copied = kSliceTags; copied == kSliceTags; from += copied) {
    slice.clear();
    {
      const std::lock_guard lock(shared_.mutex);
      copied = shared_.engine.snapshot(type, from, kSliceTags, now, slice);
    }
    std::copy_if(slice.begin(), slice.end(), std::back_inserter(tags),
                 [&](const TagValues& tag) { return filter.includes(tag.instance); });
  }
}

void Fetcher::copy_clients(const pmProfile* profile, Time now) {
  client_instances_.refresh(shared_, now);
  const InstanceFilter filter(profile, indom(kClientIndom));
  clients_.clear();
  for (const ClientInstance& client : client_instances_.all()) {
    if (filter.includes(client.number)) clients_.push_back(&client);
  }
}

pmInDom Fetcher::indom(unsigned serial) const {
  return pmInDom_build(static_cast<unsigned>(domain_), serial);
}

ValueSet Fetcher::values(pmID pmid, const Metric& metric, const TagReader& reader) const {
  const std::vector<TagValues>& tags = tags_[metric.indom];
  ValueSet set(pmid, metric.type, tags.size());
  pmAtomValue atom;
  for (const TagValues& tag : tags) {
    if (reader(atom, tag, period_s_)) set.add(tag.instance, atom);
  }
  return set;
}

ValueSet Fetcher::values(pmID pmid, const Metric& metric, const ClientReader& reader) const {
  ValueSet set(pmid, metric.type, clients_.size());
  pmAtomValue atom;
  for (const ClientInstance* client : clients_) {
    if (reader(atom, client->view.counters)) set.add(client->number, atom);
  }
  return set;
}

ValueSet Fetcher::values(pmID pmid, const Metric& metric, const StatusReader& reader) const {
  ValueSet set(pmid, metric.type, 1);
  pmAtomValue atom;
  if (reader(atom, *status_)) set.add(static_cast<int>(PM_IN_NULL), atom);
  return set;
}

}  // namespace pcp::trace::agent
