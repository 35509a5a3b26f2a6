// SPDX-License-Identifier: LGPL-2.1-or-later
// A PCP archive, read record by record without interpolation. Its writer is `record`, or a pmlogger
// that asked our agent or the stock one.
//
// Thread: one. PCP's library has one current archive: the last used.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "command/pcp/guarded_reading.hpp"
#include "command/pcp/pcp_values.hpp"
#include "command/pcp/sample_source.hpp"

namespace pcp::trace::command {

// PCP's own metrics in a recording, which `record --also` adds, in PCP's current context. None in
// archives of pmlogger, which say nothing about why they have a metric.
std::vector<RecordedMetric> metrics_of_host();

// pmNewZone() for any text in the form of TZ. PCP 7 refuses names in angle brackets, as in <+03>-3:
// there they become LOC, as in a recording.
int new_zone(std::string zone);

class ArchiveSource final : public SampleSource {
 public:
  // `path` in PCP's form: without .0, .meta and .index.
  static Result<ArchiveSource> open(const std::string& path);

  const std::string& path() const { return path_; }
  std::string host() const override;
  const std::string& command() const { return command_; }  // the recorded command; empty if unknown
  const std::string& filter() const { return filter_; }    // of its spans; or empty

  // True of an agent that keeps running, and shows intervals only when complete.
  bool is_of_agent() const { return command_.empty(); }
  WallTime begin() const { return begin_; }
  WallTime end() const { return end_; }

  std::string why_incomplete() const override;

  bool is_sparse() const override { return is_sparse_; }
  bool has_metrics_of_host() const { return !of_host_.empty(); }

  // The archive's time zone, in the form of TZ.
  const std::string& time_zone() const { return time_zone_; }

  // Skips records of single transactions.
  Result<std::optional<ArchiveSample>> next() override;

  // Skips the remaining records.
  Result<void> read_to_end();

  Instances instances(pmInDom domain, bool ever = false) const override;

  // From now on names also show these recorded labels, like labels of the tags: compute{rank=3}.
  // The label `host` is the recorded host.
  void show_labels(std::vector<std::string> keys) { shown_labels_ = std::move(keys); }

 private:
  ArchiveSource(std::string path, ArchiveContext context)
      : path_(std::move(path)), context_(std::move(context)) {}
  Result<void> find_bounds();
  Result<void> find_metrics();
  Result<bool> read_record();
  bool is_between_samples() const;
  void note_statement();
  ArchiveSample sorted_sample() const;
  void show_labels_in(Instances& names, pmInDom domain) const;
  Error failed(const std::string& why) const { return {path_ + ": " + why}; }

  std::string path_;
  ArchiveContext context_;
  OwnedArchiveResult result_;
  std::set<pmID> of_host_;  // their records are no samples
  pmID events_ = PM_ID_NULL;
  std::string time_zone_;
  WallTime begin_{};
  WallTime end_{};
  std::string command_;
  std::string filter_;
  pmID state_metric_ = PM_ID_NULL;
  std::string said_;         // the recorder's statement in the last record; or empty
  std::string said_before_;  // in the one before
  // The time of the latest statement, and of its sample. pmlogextract may have left that out.
  WallTime said_at_{};
  bool is_cut_ = false;  // the last record is incomplete: its writer was killed
  bool is_sparse_ = false;
  std::vector<std::string> shown_labels_;
};

}  // namespace pcp::trace::command
