// SPDX-License-Identifier: LGPL-2.1-or-later
// The agent as pmcd sees it: values, instances, texts, labels and stores. Knows PCP's types but not
// how requests arrive; see bridge.hpp.
#pragma once

#include <pcp/pmapi.h>
#include <pcp/pmda.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/debug_options.hpp"
#include "agent/privileges.hpp"
#include "collector/shared.hpp"
#include "metrics/client_instances.hpp"
#include "metrics/fetcher.hpp"
#include "metrics/metric_table.hpp"
#include "metrics/tag_instances.hpp"

namespace pcp::trace::agent {

// Thread: the main one. What gives an int gives a negative PCP error if it fails.
class Agent {
 public:
  struct Settings {
    int domain = 0;
    ValueUnits units;
    std::uint16_t port = 0;
    std::string debug;
  };

  Agent(Settings settings, Privileges privileges, Shared& shared, Time now);

  const std::vector<Metric>& metrics() const { return table_; }

  // The result stays valid until release().
  pmResult* fetch(const pmID* pmids, std::size_t count, const pmProfile* profile, Time now);
  void release() { fetcher_.release(); }

  // Ownership: `result` and `sets` are the caller's, to free with PCP's functions; `text` is not.
  int instances(pmInDom indom, int number, const char* name, pmInResult** result, Time now);
  int labels(int identifier, int type, pmLabelSet** sets, Time now);
  int text(int identifier, int type, const char** text) const;

  int store(const pmResult& values, int context, Time now);
  Privileges& privileges() { return privileges_; }

  // Tells whether tags or their labels have changed since the last call.
  bool labels_changed();

 private:
  AgentStatus status(Time now) const;
  int store(const pmValueSet& values, int context, Time now);
  int store_debug(const pmValueSet& values, int type);
  int tag_labels(TraceType type, pmLabelSet** sets);
  int client_labels(pmLabelSet** sets, Time now);
  template <typename Instances, typename NumberOf, typename LabelsOf, typename OriginOf>
  int answer_labels(const Instances& instances, NumberOf number_of, LabelsOf labels_of,
                    OriginOf origin_of, pmLabelSet** sets);

  Settings settings_;
  Privileges privileges_;
  Shared& shared_;
  Time started_;
  std::vector<Metric> table_;
  DebugOptions debug_;
  std::array<TagInstances, kTraceTypes.size()> tags_;
  std::uint64_t labelled_ = 0;  // the engine's changes() then
  std::uint64_t labels_left_out_ = 0;
  ClientInstances clients_;
  Fetcher fetcher_;
};

}  // namespace pcp::trace::agent
