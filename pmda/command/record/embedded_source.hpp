// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads a collector in this process, and shows it like an agent.
//
// Thread: the main one.
#pragma once

#include <memory>
#include <string>

#include "collector/engine/label_text.hpp"
#include "command/record/own_events.hpp"
#include "command/record/source.hpp"
#include "metrics/metrics.hpp"

namespace pcp::trace::command {

class EmbeddedSource : public Source {
 public:
  // `about`: labels of the whole archive (its context). `spans` may be null: no events.
  EmbeddedSource(agent::Reader reader, std::uint16_t port, agent::LabelText about,
                 std::unique_ptr<agent::Spans::Monitor> spans, Instant now);
  ~EmbeddedSource() override;

  std::vector<RecordedMetric> metrics() override;
  std::string text(unsigned type, unsigned of) override;
  OwnedLabels labels(unsigned type, unsigned of) override;
  Instances instances(pmInDom domain) override;
  Result<Sample> read(std::span<const pmID> metrics, Instant now) override;
  Result<Events> read_events(Instant now) override;
  bool labels_changed() override { return metrics_.labels_changed(); }

 private:
  OwnEvents events_;
  agent::Metrics metrics_;
  agent::LabelText about_;
  Instant now_;
};

}  // namespace pcp::trace::command
