// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes a source's samples into an archive. A sample only has instances with changes since the
// previous one; their metadata comes first. event_recorder.hpp writes the events.
//
// Thread: one.
#pragma once

#include <unordered_map>
#include <vector>

#include "command/archive/archive_writer.hpp"
#include "command/record/changes.hpp"
#include "command/record/source.hpp"

namespace pcp::trace::command {

class Recorder {
 public:
  // Writes the metrics' metadata.
  Recorder(Source& source, ArchiveWriter& writer, Stamp at);

  // Contents of a sample: changes; changes with distributions (large); or everything.
  enum class Extent { Changes, ChangesAndDistributions, Everything };

  // Writes a sample. Fails if the source fails; the writer knows its own failures.
  Result<void> sample(Extent extent, Stamp at, Instant now);

  // The number of instances in the archive.
  std::size_t instances() const;

  // True if the source has a metric of events.
  bool has_events() const { return has_events_; }

 private:
  struct Domain {
    InstanceChanges changes;
    Instances added;  // new in the archive with this sample
    bool labels_are_due = true;
    bool instances_are_due = true;
    Stamp described_at{};
  };

  void describe_metrics(Stamp at);
  void note(const Sample& all);
  void describe_instances(pmInDom domain, Domain& its, Extent extent, Stamp at);
  void add_instances(pmInDom domain, Domain& its, Stamp at);
  Sample part(Sample all, Extent extent) const;
  bool is_distribution(pmID metric) const { return type_of(metric) == PM_TYPE_STRING; }
  int type_of(pmID metric) const { return metrics_.at(metric).type; }

  Source& source_;
  ArchiveWriter& writer_;
  std::unordered_map<pmID, pmDesc> metrics_;
  std::vector<pmID> all_;
  std::vector<pmID> without_distributions_;
  std::unordered_map<pmInDom, Domain> domains_;
  bool has_events_ = false;
  InstanceChanges::Number samples_ = 0;
  InstanceChanges::Number with_distributions_ = 0;  // the last sample with distributions
};

}  // namespace pcp::trace::command
