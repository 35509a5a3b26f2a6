// SPDX-License-Identifier: LGPL-2.1-or-later
// A host's trace agent as a source of samples, like an archive. Each call may wait as long as PCP's
// time-outs.
//
// Thread: one at a time.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "command/pcp/pcp_host.hpp"
#include "command/pcp/sample_source.hpp"

namespace pcp::trace::command {

class RecordedHost final : public SampleSource {
 public:
  // The samples have the quantities that are wanted and known to the agent.
  RecordedHost(std::string name, std::function<bool(const RecordedQuantity&)> is_wanted)
      : host_(std::move(name)), is_wanted_(std::move(is_wanted)) {}

  PcpHost& pcp_host() { return host_; }
  std::string host() const override { return host_.host_name(); }

  // Connects if needed. An error says why there are no values; the next call connects anew.
  Result<std::optional<ArchiveSample>> next() override;

  bool is_sparse() const override { return false; }
  Instances instances(pmInDom domain, bool ever = false) const override;

  // How often it has connected: numbers and names of instances may differ since.
  unsigned connections() const { return connections_; }

 private:
  Result<void> begin();
  Result<ArchiveSample> read();

  PcpHost host_;
  const std::function<bool(const RecordedQuantity&)> is_wanted_;
  std::vector<pmID> ids_;
  OwnedResult result_{nullptr, pmFreeResult};  // of the last sample
  unsigned connections_ = 0;
};

}  // namespace pcp::trace::command
