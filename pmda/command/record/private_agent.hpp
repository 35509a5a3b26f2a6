// SPDX-License-Identifier: LGPL-2.1-or-later
// An agent in this process, for one program and its children only. Its Unix socket is in a private
// directory. Its TCP port, for PCP's own library, is on loopback addresses only. Only this user's
// programs are accepted.
//
// Thread: the main one.
#pragma once

#include <sys/resource.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collector/collector.hpp"
#include "collector/engine/label_text.hpp"
#include "command/record/child.hpp"
#include "command/record/private_directory.hpp"
#include "command/record/recorded_agent.hpp"
#include "metrics/metrics.hpp"
#include "metrics/span_desk.hpp"

namespace pcp::trace::command {

class PrivateAgent final : public RecordedAgent, private agent::SpanDesk {
 public:
  struct Settings {
    std::optional<Duration> interval{};  // nothing: it grows
    std::string filter;                  // of the spans to capture; empty: none
    std::vector<std::string> split;      // keys of process labels that keep tags apart; valid keys
    agent::LabelText about;              // labels of the whole archive (its context)
  };

  // Also fails if the limit of open files allows no connections.
  static Result<std::unique_ptr<PrivateAgent>> create(Settings settings);
  PrivateAgent(const PrivateAgent&) = delete;
  PrivateAgent& operator=(const PrivateAgent&) = delete;
  ~PrivateAgent() override;

  // Environment for a program: it finds the agent, and captures spans from its first call on.
  EnvironmentChanges environment() const;

  void start() { collector_->start(); }
  void stop() { collector_->stop(); }

  // True if nobody is connected, and all received data is counted.
  bool is_quiet() { return collector_->is_quiet(); }

  // Why calls of programs may be missing; empty: no known reason.
  std::string what_is_missing() const;

  // True if programs were refused because too many were connected.
  bool has_refused_some() const;

  Instant begin() const { return begin_; }  // of the first interval

  std::vector<RecordedMetric> metrics() override;
  std::string text(unsigned type, unsigned of) override;
  OwnedLabels labels(unsigned type, unsigned of) override;
  Instances instances(pmInDom domain) override;
  Result<Sample> read(std::span<const pmID> metrics, Instant now) override;
  Result<Events> read_events(Instant now) override;
  bool labels_changed() override { return metrics_->labels_changed(); }
  bool begins_at_zero() const override { return true; }
  bool change_interval(Duration interval, Instant now) override {
    return collector_->change_period(interval, now);
  }

 private:
  PrivateAgent(PrivateDirectory directory, Settings settings);
  agent::SpanAsker asker(Instant now) override;
  agent::SpanControls controls() const override { return {}; }

  PrivateDirectory directory_;  // the last to be destroyed
  const Settings settings_;
  const Instant begin_;
  Instant now_;
  std::unique_ptr<agent::Collector> collector_;
  std::unique_ptr<agent::SharedSpans::Subscription> spans_;  // null: no capture
  std::optional<agent::Metrics> metrics_;
};

// The limit of this process.
rlim_t max_open_files();

// The first log lines of all collectors.
std::string collectors_log();

}  // namespace pcp::trace::command
