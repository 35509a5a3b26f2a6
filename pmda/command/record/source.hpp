// SPDX-License-Identifier: LGPL-2.1-or-later
// Where a recorder has its numbers from: a collector in this process, or a host's pmcd.
#pragma once

#include <pcp/pmapi.h>

#include <span>
#include <string>
#include <vector>

#include "collector/engine/types.hpp"
#include "command/archive/sample.hpp"
#include "command/model/labels.hpp"
#include "wire/result.hpp"

namespace pcp::trace::command {

struct RecordedMetric {
  std::string name;
  pmDesc description{};
};

// Thread: one.
class Source {
 public:
  virtual ~Source() = default;

  // What there is to record.
  virtual std::vector<RecordedMetric> metrics() = 0;

  // A text or labels, `type` and `of` as pmLookupText() and PCP's archives have them; empty if
  // there is none.
  virtual std::string text(unsigned type, unsigned of) = 0;
  virtual OwnedLabels labels(unsigned type, unsigned of) = 0;

  // Of those who have values now, at least.
  virtual Instances instances(pmInDom domain) = 0;

  // Reads all values, but events, of a time not before the last one's. They are good until the next
  // time.
  virtual Result<Sample> read(std::span<const pmID> metrics, agent::Time now) = 0;

  // What has come of events since it was asked last, as much as a record should have: of the metric
  // of type PM_TYPE_EVENT one value, or none. Good until something is read again.
  struct Events {
    Sample sample;
    bool has_more = false;  // come already
  };
  virtual Result<Events> read_events(agent::Time) { return Events(); }

  // Tells whether labels of instances have changed since it was asked last.
  virtual bool labels_changed() = 0;
};

}  // namespace pcp::trace::command
