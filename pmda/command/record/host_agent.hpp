// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads a host's trace agent (ours or PCP's own) through pmcd.
//
// Thread: the main one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "command/record/host_questions.hpp"
#include "command/record/recorded_agent.hpp"

namespace pcp::trace::command {

class HostAgent : public RecordedAgent {
 public:
  // `host` has the form of PCP's tools; `spans` is a filter, or empty for no events. After an
  // interruption no call waits, and nothing more can be read.
  static Result<std::unique_ptr<HostAgent>> connect(const std::string& host,
                                                    const std::string& spans,
                                                    Interruption& interruption);

  const std::string& host_name() const { return questions_.host().host_name(); }

  std::vector<RecordedMetric> metrics() override { return metrics_; }
  std::string text(unsigned type, unsigned of) override;
  OwnedLabels labels(unsigned type, unsigned of) override;
  Instances instances(pmInDom domain) override;

  // Reconnects a lost connection. Also fails if the agent is missing.
  Result<Sample> read(std::span<const pmID> metrics, Instant now) override;
  // None if the host gives none now; the filter is stored again later.
  Result<Events> read_events(Instant now) override;

  // Why the recording is incomplete; empty: nothing is known to be missing.
  const std::string& what_is_missing() const { return what_is_missing_; }

  bool labels_changed() override { return questions_.host().labels_changed(); }

 private:
  HostAgent(const std::string& host, const std::string& spans, Interruption& interruption)
      : questions_(std::make_shared<PcpHost>(host, spans), &interruption), spans_(spans) {}

  HostQuestions questions_;
  const std::string spans_;
  std::vector<RecordedMetric> metrics_;
  std::string what_is_missing_;
  OwnedResult result_{nullptr, pmFreeResult};
};

}  // namespace pcp::trace::command
