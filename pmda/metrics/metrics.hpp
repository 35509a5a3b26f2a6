// SPDX-License-Identifier: LGPL-2.1-or-later
// Shows a collector to PCP: values, instances, texts and labels. Uses PCP's types, but neither pmcd
// nor its requests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "collector/reader.hpp"
#include "metrics/debug_options.hpp"
#include "metrics/fetcher.hpp"
#include "metrics/instances.hpp"
#include "metrics/metric_table.hpp"
#include "metrics/pmapi.hpp"
#include "metrics/span_desk.hpp"

namespace pcp::trace::agent {

// Thread: the main one. Functions with an int result return a negative PCP error on failure.
class Metrics {
 public:
  struct Settings {
    int domain = 0;
    ValueUnits units;
    std::uint16_t port = 0;
    bool stable_labels = false;  // a tag shows only the labels in its name
  };

  Metrics(const Settings& settings, Reader reader, Instant now);
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  const std::vector<Metric>& table() const { return table_; }

  // Null if there is no such metric.
  const Metric* find(pmID pmid) const { return fetcher_.find(pmid); }

  // Sets the source of spans for monitors; without it there are none. `desk` must outlive this.
  void set_span_desk(SpanDesk& desk) {
    desk_ = &desk;
    fetcher_.set_span_desk(desk);
  }

  // The result stays valid until release().
  pmapi::AgentResult* fetch(const pmID* pmids, std::size_t count, const pmProfile* profile,
                            Instant now);
  void release() { fetcher_.release(); }

  // Ownership: the caller frees `result` and `sets` with PCP's functions, but not `text`.
  int instances(pmInDom indom, int number, const char* name, pmInResult** result, Instant now);
  int labels(int identifier, int type, pmLabelSet** sets, Instant now);
  int text(int identifier, int type, const char** text) const;

  // True if tags or their labels have changed since the last call.
  bool labels_changed();

  DebugOptions& debug_options() { return debug_; }

 private:
  AgentStatus status(Instant now) const;
  int tag_labels(TraceType type, pmLabelSet** sets);
  int client_labels(pmLabelSet** sets, Instant now);
  template <typename Instances, typename FactsOf, typename LabelsOf>
  int answer_labels(const Instances& instances, FactsOf facts_of, LabelsOf labels_of,
                    pmLabelSet** sets);

  Reader reader_;
  SpanDesk* desk_ = nullptr;
  std::uint16_t port_;
  bool stable_labels_;
  Instant started_;
  std::vector<Metric> table_;
  DebugOptions debug_;
  std::array<TagInstances, kTraceTypes.size()> tags_;
  std::uint64_t labelled_ = 0;  // the collector's changes() at the last call of labels_changed()
  std::uint64_t labels_left_out_ = 0;
  ClientInstances clients_;
  Fetcher fetcher_;
};

}  // namespace pcp::trace::agent
