// SPDX-License-Identifier: LGPL-2.1-or-later
// Answers fetches. Tags are copied in slices, and all metrics of a slice are read from one copy: so
// the values of a tag are consistent, and a fetch needs little more memory than its answer.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "collector/reader.hpp"
#include "metrics/agent_status.hpp"
#include "metrics/instances.hpp"
#include "metrics/metric_table.hpp"
#include "metrics/pmapi.hpp"
#include "metrics/span_desk.hpp"

namespace pcp::trace::agent {

// One metric's values. Owns their memory, so it must outlive the sending.
class ValueSet {
 public:
  ValueSet() = default;

  // Allocates room for `capacity` values.
  ValueSet(pmID pmid, int type, std::size_t capacity);

  // Makes a set with an error instead of values.
  static ValueSet failed(pmID pmid, int error);

  // Without room it adds nothing: tags that begin during a fetch wait for the next one.
  void add(int instance, const pmAtomValue& value);

  pmValueSet* get() const { return set_; }

 private:
  pmValueBlock* make_own_block(const void* value, std::size_t bytes);
  pmValueBlock* make_block(char* address, const void* value, std::size_t bytes) const;

  int type_ = PM_TYPE_UNKNOWN;
  std::size_t capacity_ = 0;
  std::unique_ptr<char[]> memory_;                // the set with its list of values
  std::unique_ptr<char[]> blocks_;                // numbers too large for the list
  std::size_t used_ = 0;                          // of blocks_
  std::vector<std::unique_ptr<char[]>> strings_;  // texts and arrays of events
  pmValueSet* set_ = nullptr;
};

// The sets of one fetch, in libpcp_pmda's form.
class FetchResult {
 public:
  // Forgets the last fetch and allocates sets for a new one.
  void begin(std::size_t metrics);

  // Call it once for each index.
  ValueSet& put(std::size_t index, ValueSet set);

  pmapi::AgentResult* get() const { return result_; }

 private:
  std::vector<ValueSet> sets_;
  std::unique_ptr<char[]> memory_;
  pmapi::AgentResult* result_ = nullptr;
};

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
  void add_histograms(TraceType type, Outcome outcome, AskedOfIndom asked, const pmProfile* profile,
                      Instant now);
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
