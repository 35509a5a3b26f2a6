// SPDX-License-Identifier: LGPL-2.1-or-later
// The single transactions in an archive of PCP's, record by record: of `record --spans`, or of a
// pmlogger that has logged tracing.events.
//
// Thread: one. PCP's library knows one current archive: the one that was used last.
#pragma once

#include <pcp/pmapi.h>

#include <optional>
#include <string>

#include "command/model/archive_context.hpp"
#include "command/model/model.hpp"
#include "command/traces/span_event.hpp"
#include "wire/result.hpp"

namespace pcp::trace::command {

class SpanArchive {
 public:
  // `path` as PCP has it: without .0, .meta and .index.
  static Result<SpanArchive> open(const std::string& path);

  // It has the metric. Otherwise there is nothing to read.
  bool has_spans() const { return events_ != PM_ID_NULL; }

  struct Record {
    Moment at{};
    SpanNews news;                 // each with its host; perhaps none
    bool comes_after_gap = false;  // of which nothing is known, or another agent has sent it
  };

  // Reads on, up to where the archive is whole. Nothing: it is the end.
  std::optional<Record> next();

  // The end is missing; known when next() has given nothing.
  bool is_cut() const { return is_cut_; }

 private:
  SpanArchive(int context) : context_(context) {}
  std::optional<Record> read_record(const pmHighResResult& result);

  ArchiveContext context_;
  std::string host_;
  pmID events_ = PM_ID_NULL;
  pmID uptime_ = PM_ID_NULL;
  double uptime_s_ = 0;  // of the agent, when it was read last
  bool is_cut_ = false;
};

}  // namespace pcp::trace::command
