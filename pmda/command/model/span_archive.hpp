// SPDX-License-Identifier: LGPL-2.1-or-later
// The single transactions in a PCP archive, record by record: from `record --spans`, or from a
// pmlogger that logged tracing.events.
//
// Thread: one. PCP's library has one current archive: the last used.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "command/model/archive_context.hpp"
#include "command/model/model.hpp"
#include "command/traces/span_event.hpp"
#include "metrics/pmapi.hpp"

namespace pcp::trace::command {

class SpanArchive {
 public:
  // `path` in PCP's form: without .0, .meta and .index.
  static Result<SpanArchive> open(const std::string& path);

  // False: the archive lacks the metric, and there is nothing to read.
  bool has_spans() const { return events_ != PM_ID_NULL; }

  struct Record {
    Moment at{};
    SpanNews news;                 // spans with their host; may be empty
    bool comes_after_gap = false;  // of unknown content, or with a new agent after it
  };

  // Reads the next record of the readable part. Nothing at the end.
  std::optional<Record> next();

  // True if the end is missing; known once next() gave nothing.
  bool is_cut() const { return is_cut_; }

 private:
  SpanArchive(int context) : context_(context) {}
  std::optional<Record> read_record(const pmapi::ArchiveResult& result);

  ArchiveContext context_;
  std::string host_;
  pmID events_ = PM_ID_NULL;
  pmID uptime_ = PM_ID_NULL;
  double uptime_s_ = 0;  // the agent's last uptime
  bool is_cut_ = false;
};

}  // namespace pcp::trace::command
