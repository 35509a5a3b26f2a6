// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads a collector in this process, as an agent beside it would show it.
//
// Thread: the main one.
#pragma once

#include <string>

#include "collector/engine/label_text.hpp"
#include "command/record/source.hpp"
#include "metrics/metrics.hpp"

namespace pcp::trace::command {

class EmbeddedSource : public Source {
 public:
  // `about` is said of the whole archive: labels of its context.
  EmbeddedSource(agent::Reader reader, std::uint16_t port, agent::LabelText about, agent::Time now);
  ~EmbeddedSource() override;

  std::vector<RecordedMetric> metrics() override;
  std::string text(unsigned type, unsigned of) override;
  OwnedLabels labels(unsigned type, unsigned of) override;
  Instances instances(pmInDom domain) override;
  Result<Sample> read(std::span<const pmID> metrics, agent::Time now) override;
  bool labels_changed() override { return metrics_.labels_changed(); }

 private:
  agent::Metrics metrics_;
  agent::LabelText about_;
  agent::Time now_;
};

}  // namespace pcp::trace::command
