// SPDX-License-Identifier: LGPL-2.1-or-later
// PCP's own metrics of a host, which `record --also` records beside those of the trace agent: from
// the host's pmcd or, if this host has none, from PCP's agents as libraries in this process. Their
// records have metrics of no trace agent, so ArchiveSource skips them. Each record has all
// instances: one that is missing has no value. PCP's local context allows one thread only, so
// beside a program the main thread asks, with short time-outs.
//
// Thread: the main one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "command/record/host_questions.hpp"
#include "command/record/recorded_agent.hpp"

namespace pcp::trace::command {

class HostMetrics final : public RecordedAgent {
 public:
  // The limit of a sample.
  static constexpr std::size_t kMostValues = 1000;

  // `wanted` are names of metrics or of subtrees. The error names one that cannot be recorded.
  // `host` has the form of PCP's tools, and no call waits after an interruption. Empty, with null:
  // this host. Then a call waits for two seconds at most, and a program that is started afterwards
  // inherits no file.
  static Result<std::unique_ptr<HostMetrics>> open(const std::string& host,
                                                   const std::vector<std::string>& wanted,
                                                   Interruption* interruption);

  // The metrics of subtrees that are not recorded, and why; empty: none.
  const std::string& left_out() const { return opened_.left_out; }

  // How many samples lack values of these metrics, and why; empty: none.
  std::string what_is_missing() const;

  std::vector<RecordedMetric> metrics() override;
  std::string text(unsigned type, unsigned of) override;
  OwnedLabels labels(unsigned, unsigned) override { return {}; }
  Instances instances(pmInDom domain) override;

  // Never fails: a metric that cannot be read has no values.
  Result<Sample> read(std::span<const pmID> metrics, Instant now) override;

  bool labels_changed() override { return false; }
  bool gives_all_instances() const override { return true; }

 private:
  struct Opened {
    std::shared_ptr<PcpHost> host;
    std::vector<RecordedMetric> metrics{};  // with the host's own numbers
    std::size_t values = 0;                 // of a sample, at the begin
    std::string left_out{};
  };

  HostMetrics(Opened opened, Interruption* interruption)
      : opened_(std::move(opened)), questions_(opened_.host, interruption) {}
  static Result<Opened> find(const std::string& host, const std::vector<std::string>& wanted);
  static Result<void> add(Opened& opened, const std::string& wanted);

  const Opened opened_;
  HostQuestions questions_;
  OwnedResult result_{nullptr, pmFreeResult};
  std::uint64_t samples_ = 0;
  std::uint64_t lacking_ = 0;
  std::string why_lacking_;  // the latest reason
};

}  // namespace pcp::trace::command
