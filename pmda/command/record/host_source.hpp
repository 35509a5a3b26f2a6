// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads what a host's pmcd shows of its trace agent, of ours or of PCP's own.
//
// Thread: the main one.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "command/record/source.hpp"

namespace pcp::trace::command {

class HostSource : public Source {
 public:
  // `host` is as PCP's tools take it.
  static Result<std::unique_ptr<HostSource>> connect(const std::string& host);
  ~HostSource() override;

  // As pmcd knows itself.
  std::string host_name() const;

  std::vector<RecordedMetric> metrics() override { return metrics_; }
  std::string text(unsigned type, unsigned of) override;
  OwnedLabels labels(unsigned type, unsigned of) override;
  Instances instances(pmInDom domain) override;

  // Connects again if the connection is lost.
  Result<Sample> read(std::span<const pmID> metrics, agent::Time now) override;
  bool labels_changed() override { return std::exchange(labels_changed_, false); }

 private:
  explicit HostSource(int context) : context_(context) {}
  Result<void> find_metrics();

  int context_;
  std::vector<RecordedMetric> metrics_;
  bool is_lost_ = false;
  bool labels_changed_ = false;
  std::unique_ptr<pmResult, void (*)(pmResult*)> result_{nullptr, pmFreeResult};
};

}  // namespace pcp::trace::command
