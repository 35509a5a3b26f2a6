// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/model/span_archive.hpp"

#include <algorithm>
#include <utility>

#include "command/archive/sample.hpp"
#include "command/model/archive_source.hpp"
#include "command/model/guarded_reading.hpp"
#include "command/model/recorded_metrics.hpp"
#include "command/pcp_values.hpp"

namespace pcp::trace::command {

Result<SpanArchive> SpanArchive::open(const std::string& path) {
  const Result<int> context = open_archive(path);
  if (!context) return context.error();
  SpanArchive archive(*context);
  archive.events_ = lookup(kEventsMetric);
  archive.uptime_ = lookup("trace.agent.uptime");
  archive.host_ = host_name_of(*context);
  timespec end{};
  archive.is_cut_ = pmapi::get_archive_end(&end) == PM_ERR_LOGREC;
  const timespec from_the_start{};
  if (const int error = pmapi::set_archive_mode(PM_MODE_FORW, &from_the_start, nullptr); error < 0)
    return pcp_error(path, error);
  return archive;
}

std::optional<SpanArchive::Record> SpanArchive::next() {
  if (!has_spans()) return {};
  pmUseContext(context_.number());
  for (;;) {
    pmapi::ArchiveResult* read = nullptr;
    if (const int error = pmapi::fetch_archive(&read); error < 0) {
      is_cut_ |= error != PM_ERR_EOL;
      return {};
    }
    const OwnedArchiveResult result(read);
    if (std::optional<Record> record = read_record(*result)) return record;
  }
}

std::optional<SpanArchive::Record> SpanArchive::read_record(const pmapi::ArchiveResult& result) {
  Record record{moment_of(result.timestamp), {}, result.numpmid == 0};
  bool has_news = record.comes_after_gap;
  for (int i = 0; i < result.numpmid; ++i) {
    const pmValueSet& set = *result.vset[i];
    if (set.pmid == uptime_ && uptime_ != PM_ID_NULL) {
      const double uptime_s = double_of(set).value_or(uptime_s_);
      record.comes_after_gap = uptime_s < std::exchange(uptime_s_, uptime_s);
      has_news |= record.comes_after_gap;
    }
    if (set.pmid != events_ || set.numval < 1 || set.valfmt == PM_VAL_INSITU) continue;
    std::optional<SpanNews> news = read_events(*set.vlist[0].value.pval);
    if (!news) continue;
    for (SpanEvent& span : news->spans)
      if (span.host.empty()) span.host = host_;
    record.news = *std::move(news);
    has_news = true;
  }
  if (!has_news) return {};
  return record;
}

}  // namespace pcp::trace::command
