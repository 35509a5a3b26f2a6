// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads what a host's pmcd shows of its trace agent, of ours or of PCP's own. PCP's library waits
// for a pmcd that does not answer as long as its time-outs say: each of its calls is an errand.
//
// Thread: the main one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command/pcp_values.hpp"
#include "command/record/interruption.hpp"
#include "command/record/source.hpp"
#include "command/traces/span_request.hpp"

namespace pcp::trace::command {

class HostSource : public Source {
 public:
  // `host` is as PCP's tools take it; `spans` is a filter, or empty: there are no events. After an
  // interruption nobody is waited for: there is no more to read.
  static Result<std::unique_ptr<HostSource>> connect(const std::string& host,
                                                     const std::string& spans,
                                                     Interruption& interruption);
  ~HostSource() override;

  // As pmcd knows itself.
  std::string host_name();

  std::vector<RecordedMetric> metrics() override { return metrics_; }
  std::string text(unsigned type, unsigned of) override;
  OwnedLabels labels(unsigned type, unsigned of) override;
  Instances instances(pmInDom domain) override;

  // Connects again if the connection is lost. Fails if the agent is away, too.
  Result<Sample> read(std::span<const pmID> metrics, agent::Time now) override;
  // None where the host gives none just now: it is asked again.
  Result<Events> read_events(agent::Time now) override;

  bool labels_changed() override { return std::exchange(labels_changed_, false); }

 private:
  HostSource(std::string spans, Interruption& interruption)
      : spans_(std::move(spans)), interruption_(interruption) {}
  Result<void> find_metrics();
  Result<void> ask_for_spans();

  // Gives the answer, of which nothing else may be used; nothing after an interruption.
  template <typename Question>
  auto ask(Question question) -> std::optional<decltype(question())>;

  const std::string spans_;
  Interruption& interruption_;
  int context_ = -1;
  std::vector<RecordedMetric> metrics_;
  SpanMetrics span_metrics_;
  bool must_ask_for_spans_ = false;
  bool is_lost_ = false;  // the connection
  bool is_left_ = false;  // a question that has not been answered
  bool labels_changed_ = false;
  OwnedResult result_{nullptr, pmFreeResult};
};

}  // namespace pcp::trace::command
