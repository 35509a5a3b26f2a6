// SPDX-License-Identifier: LGPL-2.1-or-later
// A PCP archive, read record by record without interpolation. Its writer is `record`, or a pmlogger
// that asked our agent or the stock one.
//
// Thread: one. PCP's library has one current archive: the last used.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "command/pcp/guarded_reading.hpp"
#include "command/pcp/pcp_values.hpp"
#include "command/pcp/recorded_metrics.hpp"
#include "command/pcp/sample.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::command {

// The values of one metric in a sample.
struct QuantityValues {
  RecordedQuantity what{};
  pmDesc metric{};
  const pmValueSet* set = nullptr;

  std::span<const pmValue> values() const;
  double number(const pmValue& value) const;          // NaN if not a number
  std::string_view text(const pmValue& value) const;  // empty if not a text
};

struct ArchiveSample {
  WallTime at{};
  bool is_mark = false;  // nothing is known of the time between the neighbouring samples
  std::string says{};    // the recorder's statement before it; or empty

  // The readable quantities, ascending; valid until the next sample is read.
  std::vector<QuantityValues> quantities;
};

// A program's description of a tag; either member may be empty.
struct MetricDescription {
  std::string unit;
  std::string text;
};

inline WallTime moment_of(const timespec& time) {
  return WallTime(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

inline WallTime moment_of(const timeval& time) {
  return WallTime(std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec));
}

// Tags' names, without the numbers that an agent shows behind equal first words.
Instances without_numbers(const Instances& names);

// The descriptions of a domain's tags, by name, in PCP's current context.
std::map<std::string, MetricDescription> descriptions_of(pmInDom domain, const Instances& names);

// PCP's own metrics in a recording, which `record --also` adds, in PCP's current context. None in
// archives of pmlogger, which say nothing about why they have a metric.
std::vector<RecordedMetric> metrics_of_host();

// pmNewZone() for any text in the form of TZ. PCP 7 refuses names in angle brackets, as in <+03>-3:
// there they become LOC, as in a recording.
int new_zone(std::string zone);

class ArchiveSource {
 public:
  // `path` in PCP's form: without .0, .meta and .index.
  static Result<ArchiveSource> open(const std::string& path);

  const std::string& path() const { return path_; }
  std::string host() const;
  const std::string& command() const { return command_; }  // the recorded command; empty if unknown
  const std::string& filter() const { return filter_; }    // of its spans; or empty

  // True of an agent that keeps running, and shows intervals only when complete.
  bool is_of_agent() const { return command_.empty(); }
  WallTime begin() const { return begin_; }
  WallTime end() const { return end_; }

  // Why calls may be missing at the end, known after the last record; empty: none are, or
  // (pmlogger) unknown.
  std::string why_incomplete() const;

  // True if samples omit metrics that did not change: those of `record`.
  bool is_sparse() const { return is_sparse_; }
  bool has_metrics_of_host() const { return !of_host_.empty(); }
  bool has(TraceType type, Quantity quantity, Ending ending = Ending::Completed) const;
  std::string unit_of(TraceType type) const;

  // The archive's time zone, in the form of TZ.
  const std::string& time_zone() const { return time_zone_; }

  // Reads the next sample, skipping records of single transactions. Nothing at the end.
  Result<std::optional<ArchiveSample>> next();

  // Skips the remaining records.
  Result<void> read_to_end();

  // The descriptions of a type's tags at the last sample, by tag name.
  std::map<std::string, MetricDescription> descriptions(TraceType type) const;

  // The names of a domain's instances, at the last sample or in the whole archive.
  Instances instances(pmInDom domain, bool ever = false) const;

  // From now on names also show these recorded labels, like labels of the tags: compute{rank=3}.
  // The label `host` is the recorded host.
  void show_labels(std::vector<std::string> keys) { shown_labels_ = std::move(keys); }

 private:
  struct Metric {
    RecordedQuantity what{};
    pmDesc description{};
  };

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
  std::map<pmID, Metric> metrics_;
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
