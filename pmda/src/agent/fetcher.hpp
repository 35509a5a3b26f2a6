// Answers fetches. What a fetch asks for is first copied from the engine, a slice at a time, so
// that the ingest thread never waits long; then the values are made from the copy.
#pragma once

#include <pcp/pmapi.h>
#include <pcp/pmda.h>

#include <array>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "agent/agent_status.hpp"
#include "agent/client_instances.hpp"
#include "agent/metric.hpp"
#include "agent/value_set.hpp"
#include "engine/shared.hpp"

namespace pcp::trace::agent {

// Thread: the main one.
class Fetcher {
 public:
  // `status` gathers what the agent says about itself.
  Fetcher(const std::vector<Metric>& table, int domain, Shared& shared, ClientInstances& clients,
          std::function<AgentStatus(Time)> status);

  // Gives the values of `pmids` that `profile` lets through. They stay valid until release().
  pmResult* fetch(const pmID* pmids, std::size_t count, const pmProfile* profile, Time now);
  void release();

  // Null if there is no such metric.
  const Metric* find(pmID pmid) const;

 private:
  void take_snapshot(const pmID* pmids, std::size_t count, const pmProfile* profile, Time now);
  void copy_tags(TraceType type, const pmProfile* profile, Time now);
  void copy_clients(const pmProfile* profile, Time now);
  pmInDom indom(unsigned serial) const;

  ValueSet values(pmID pmid, const Metric& metric, const TagReader& reader) const;
  ValueSet values(pmID pmid, const Metric& metric, const ClientReader& reader) const;
  ValueSet values(pmID pmid, const Metric& metric, const StatusReader& reader) const;

  std::unordered_map<pmID, const Metric*> metrics_;
  int domain_;
  Shared& shared_;
  ClientInstances& client_instances_;
  std::function<AgentStatus(Time)> gather_status_;

  // The snapshot of one fetch, after the profile.
  std::array<std::vector<TagValues>, kTraceTypes.size()> tags_;
  std::vector<const ClientInstance*> clients_;
  std::optional<AgentStatus> status_;
  double period_s_;
  FetchResult result_;
};

}  // namespace pcp::trace::agent
