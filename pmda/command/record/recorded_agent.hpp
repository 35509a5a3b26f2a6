// SPDX-License-Identifier: LGPL-2.1-or-later
// The agent that a recording reads: one in this process, or one behind a host's pmcd.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "collector/engine/types.hpp"
#include "command/pcp/pcp_values.hpp"
#include "command/pcp/sample.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::command {

// Thread: one.
class RecordedAgent {
 public:
  virtual ~RecordedAgent() = default;

  // The metrics to record.
  virtual std::vector<RecordedMetric> metrics() = 0;

  // A text or labels; `type` and `of` as in pmLookupText() and PCP's archives. Empty if there are
  // none.
  virtual std::string text(unsigned type, unsigned of) = 0;
  virtual OwnedLabels labels(unsigned type, unsigned of) = 0;

  // At least the instances that have values now.
  virtual Instances instances(pmInDom domain) = 0;

  // Reads all values except events. `now` must not decrease. The values are valid until the next
  // call.
  virtual Result<Sample> read(std::span<const pmID> metrics, Instant now) = 0;

  // The events since the last call, up to a good size for a record: one value of the metric of type
  // PM_TYPE_EVENT, or none. Valid until the next reading.
  struct Events {
    Sample sample;
    bool has_more = false;  // more are waiting already
  };
  virtual Result<Events> read_events(Instant) { return Events(); }

  // True if labels of instances have changed since the last call.
  virtual bool labels_changed() = 0;

  // True if the agent has counted nothing before the recording. So a metric without values needs no
  // record at the begin to say so.
  virtual bool begins_at_zero() const { return false; }

  // True if an instance that a reading lacks does not exist, or cannot be read. So a record has all
  // instances, also those without a change.
  virtual bool gives_all_instances() const { return false; }

  // Makes the interval of `now`, and all later ones, as long as this. False if that is not possible
  // now; then nothing changes.
  virtual bool change_interval(Duration, Instant) { return false; }
};

}  // namespace pcp::trace::command
