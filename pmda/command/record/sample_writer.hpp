// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes an agent's samples into an archive. A sample only has instances with changes since the
// previous one; their metadata comes first. event_writer.hpp writes the events.
//
// Thread: one.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "command/pcp/archive_writer.hpp"
#include "command/record/recorded_agent.hpp"

namespace pcp::trace::command {

// Tracks when any value of a domain's instances changed last, so that unchanged instances need not
// be written.
class InstanceChanges {
 public:
  // Samples are numbered from 1.
  using Number = std::uint64_t;

  void note(int instance, pmID metric, std::uint64_t value);
  void end_sample(Number sample);

  // True if the last sample has instances that the previous one lacked.
  bool has_newcomers() const { return has_newcomers_; }

  // The last sample in which the instance changed. Requires: the last sample has the instance.
  Number last_change(int instance) const { return instances_.at(instance).changed; }

 private:
  struct Instance {
    std::uint64_t before = 0;  // digests of all values
    std::uint64_t now = 0;
    Number changed = 0;
    bool is_there = false;
  };
  std::unordered_map<int, Instance> instances_;
  bool has_newcomers_ = false;
};

class SampleWriter {
 public:
  // Writes the metrics' metadata.
  SampleWriter(RecordedAgent& agent, ArchiveWriter& writer, Stamp at);

  // Contents of a sample: changes; changes with distributions (large); or everything.
  enum class Extent { Changes, ChangesAndDistributions, Everything };

  // Writes a sample, and `before` as a record before it. Fails if the agent fails; the writer knows
  // its own failures.
  Result<void> sample(Extent extent, Stamp at, Instant now, const Sample& before = {});

  // The number of instances in the archive.
  std::size_t instances() const;

  // True if the agent has a metric of events.
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
  bool may_go_back_to_begin() const;
  ZeroSample counters_at_begin(const Sample& all) const;
  bool is_distribution(pmID metric) const { return metrics_.at(metric).type == PM_TYPE_STRING; }

  RecordedAgent& agent_;
  ArchiveWriter& writer_;
  const Stamp begin_;
  std::unordered_map<pmID, pmDesc> metrics_;
  std::vector<pmID> all_;
  std::vector<pmID> without_distributions_;
  std::unordered_map<pmInDom, Domain> domains_;
  bool has_events_ = false;
  InstanceChanges::Number samples_ = 0;
  InstanceChanges::Number with_distributions_ = 0;  // the last sample with distributions
};

}  // namespace pcp::trace::command
