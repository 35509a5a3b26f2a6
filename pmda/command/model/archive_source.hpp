// SPDX-License-Identifier: LGPL-2.1-or-later
// An archive of PCP's, record by record as it was written: nothing is interpolated. Whoever wrote
// it: `record`, or a pmlogger that asked our agent or the stock one.
//
// Thread: one. PCP's library knows one current archive: the one that was used last.
#pragma once

#include <pcp/pmapi.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command/model/archive_context.hpp"
#include "command/model/model.hpp"
#include "command/model/recorded_metrics.hpp"
#include "wire/result.hpp"

namespace pcp::trace::command {

// The values of one metric in a sample.
struct QuantityValues {
  RecordedQuantity what{};
  pmDesc metric{};
  const pmValueSet* set = nullptr;

  std::span<const pmValue> values() const;
  double number(const pmValue& value) const;          // NaN if it is none
  std::string_view text(const pmValue& value) const;  // empty if it is none
};

struct ArchiveSample {
  Moment at{};
  bool is_mark = false;  // nothing is known of the time between the last sample and the next

  // The quantities that could be read, ascending; good until the next sample is read.
  std::vector<QuantityValues> quantities;
};

// What a program has said of a tag; either may be empty.
struct Description {
  std::string unit;
  std::string text;
};

inline Moment moment_of(const timespec& time) {
  return Moment(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

class ArchiveSource {
 public:
  // `path` as PCP has it: without .0, .meta and .index.
  static Result<ArchiveSource> open(const std::string& path);

  const std::string& path() const { return path_; }
  std::string host() const;
  const std::string& command() const { return command_; }  // that was recorded; empty if unknown
  const std::string& filter() const { return filter_; }    // of its spans; likewise
  Moment begin() const { return begin_; }
  Moment end() const { return end_; }

  // Whether a recorder has written it that says at the end whether it is complete.
  bool tells_whether_complete() const { return end_metric_ != PM_ID_NULL; }

  // Why it may lack calls, known once all was read; empty: it is complete, or, of a pmlogger's,
  // nobody says.
  std::string why_incomplete() const;

  // Where the metrics that did not change are not in every sample.
  bool is_sparse() const { return is_sparse_; }
  bool has(TraceType type, Quantity quantity) const;
  std::string unit_of(TraceType type) const;

  // The archive's zone, as TZ has it.
  const std::string& time_zone() const { return time_zone_; }

  // Makes PCP show times in it.
  Result<void> use_its_time_zone() const;

  // Reads on, but not what recorded_spans.hpp is for. Nothing: it is the end.
  Result<std::optional<ArchiveSample>> next();

  // Skips what is left.
  Result<void> read_to_end();

  // Of the tags of a type that a program has described, at the time of the last sample, by name.
  std::map<std::string, Description> descriptions(TraceType type) const;

  // The names of a domain's instances at the time of the last sample.
  std::map<int, std::string> instances(pmInDom domain) const;

  // The same of any time.
  std::map<int, std::string> instances_ever(pmInDom domain) const;

 private:
  struct Metric {
    RecordedQuantity what{};
    pmDesc description{};
  };

  ArchiveSource(std::string path, int context) : path_(std::move(path)), context_(context) {}
  Result<void> find_bounds();
  Result<void> find_metrics();
  Result<bool> read_record();
  bool is_between_samples() const;
  void note_end();
  ArchiveSample sorted_sample() const;
  Error failed(const std::string& why) const { return {path_ + ": " + why}; }

  std::string path_;
  ArchiveContext context_;
  OwnedHighResResult result_;
  std::map<pmID, Metric> metrics_;
  pmID events_ = PM_ID_NULL;
  std::string time_zone_;
  Moment begin_{};
  Moment end_{};
  std::string command_;
  std::string filter_;
  pmID end_metric_ = PM_ID_NULL;
  std::optional<std::string> said_;  // by the record that was read last, of the whole recording
  bool is_cut_ = false;              // the last record is not whole, as when its writer was killed
  bool is_sparse_ = false;
};

}  // namespace pcp::trace::command
