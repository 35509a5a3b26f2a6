// SPDX-License-Identifier: LGPL-2.1-or-later
// Answers fetches. Tags are copied in slices, and all metrics of a slice are read from one copy: so
// the values of a tag are consistent, and a fetch needs little more memory than its answer.
#pragma once

#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "collector/reader.hpp"
#include "metrics/agent_status.hpp"
#include "metrics/instances.hpp"
#include "metrics/metric_table.hpp"
#include "metrics/pmapi.hpp"
#include "metrics/span_desk.hpp"
#include "metrics/value_set.hpp"

namespace pcp::trace::agent {

// Thread: the main one.
class Fetcher {
 public:
  // Limit of the texts of histograms in an answer: pmcd drops an agent that takes too long for one.
  static constexpr std::size_t kMaxHistogramBytes = 16u << 20;

  // `status` gathers the agent's own state.
  Fetcher(const std::vector<Metric>& table, int domain, Reader reader, ClientInstances& clients,
          std::function<AgentStatus(Instant)> status);

  // Returns the values of `pmids` for the instances in `profile`. Valid until release().
  pmapi::AgentResult* fetch(const pmID* pmids, std::size_t count, const pmProfile* profile,
                            Instant now);
  void release();

  void set_span_desk(SpanDesk& desk) { desk_ = &desk; }

  // Histograms left out, in all answers so far: the answer was full, or the tag has no histogram.
  std::uint64_t histograms_left_out() const { return histograms_left_out_; }

  // Null if there is no such metric.
  const Metric* find(pmID pmid) const;

 private:
  // A requested metric, and the index of its values in the result.
  struct Asked {
    pmID pmid;
    const Metric* metric;
    std::size_t index;
  };
  using AskedOfIndom = std::span<const Asked>;

  void add_tags(TraceType type, AskedOfIndom asked, const pmProfile* profile, Instant now);
  void add_histograms(TraceType type, AskedOfIndom asked, const pmProfile* profile, Instant now);
  void add_clients(AskedOfIndom asked, const pmProfile* profile, Instant now);
  void add_events(AskedOfIndom asked, Instant now);
  void add_status(AskedOfIndom asked, Instant now);
  std::vector<ValueSet*> make_sets(AskedOfIndom asked, std::size_t capacity);
  pmInDom indom(unsigned serial) const;

  std::unordered_map<pmID, const Metric*> metrics_;
  int domain_;
  Reader reader_;
  ClientInstances& client_instances_;
  std::function<AgentStatus(Instant)> gather_status_;
  std::size_t histogram_room_ = 0;  // bytes left in this answer
  std::uint64_t histograms_left_out_ = 0;
  SpanDesk* desk_ = nullptr;
  FetchResult result_;
};

}  // namespace pcp::trace::agent
