// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads a host's trace agent (ours or PCP's own) through pmcd. PCP's library may wait for a silent
// pmcd as long as its time-outs, so each call is an errand.
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
  // `host` has the form of PCP's tools; `spans` is a filter, or empty for no events. After an
  // interruption no call waits, and nothing more can be read.
  static Result<std::unique_ptr<HostSource>> connect(const std::string& host,
                                                     const std::string& spans,
                                                     Interruption& interruption);
  ~HostSource() override;

  // The name that pmcd gives.
  std::string host_name();

  std::vector<RecordedMetric> metrics() override { return metrics_; }
  std::string text(unsigned type, unsigned of) override;
  OwnedLabels labels(unsigned type, unsigned of) override;
  Instances instances(pmInDom domain) override;

  // Reconnects a lost connection. Also fails if the agent is missing.
  Result<Sample> read(std::span<const pmID> metrics, Instant now) override;
  // None if the host gives none now; the filter is stored again later.
  Result<Events> read_events(Instant now) override;

  bool labels_changed() override { return std::exchange(labels_changed_, false); }

 private:
  HostSource(std::string spans, Interruption& interruption)
      : spans_(std::move(spans)), interruption_(interruption) {}
  Result<void> find_metrics();
  Result<void> ask_for_spans();

  // Returns the answer, which must own its data; nothing after an interruption.
  template <typename Question>
  auto ask(Question question) -> std::optional<decltype(question())>;

  const std::string spans_;
  Interruption& interruption_;
  int context_ = -1;
  std::vector<RecordedMetric> metrics_;
  SpanMetrics span_metrics_;
  bool must_ask_for_spans_ = false;
  bool is_lost_ = false;  // the connection
  bool is_left_ = false;  // a question is unanswered
  bool labels_changed_ = false;
  OwnedResult result_{nullptr, pmFreeResult};
};

}  // namespace pcp::trace::command
