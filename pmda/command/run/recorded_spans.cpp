// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "command/pcp/archive_source.hpp"
#include "command/pcp/guarded_reading.hpp"
#include "command/pcp/pcp_values.hpp"
#include "command/pcp/recorded_metrics.hpp"
#include "command/pcp/sample.hpp"
#include "command/pcp/span_event.hpp"
#include "command/run/archive_reader.hpp"
#include "command/run/slowest_traces.hpp"
#include "command/run/torn_spans.hpp"
#include "command/run/trace_assembly.hpp"
#include "command/run/why_slow.hpp"
#include "wire/capture_filter.hpp"

namespace pcp::trace::command {

namespace {

// A pmlogger samples every minute; a trace may be split over two samples.
TraceAssembly::Limits limits() {
  return {.quiet = std::chrono::seconds(70),
          .orphaned = std::chrono::seconds(70),
          .longest = std::chrono::seconds(600),
          .traces = 100'000,
          .remembered = 100'000};
}

constexpr Duration kBetweenLooks = std::chrono::seconds(1);

// The single transactions in one archive, record by record: from `record --spans`, or from a
// pmlogger that logged tracing.events.
class SpanArchive {
 public:
  static Result<SpanArchive> open(const std::string& path);

  // False: the archive lacks the metric, and there is nothing to read.
  bool has_spans() const { return events_ != PM_ID_NULL; }

  struct Record {
    WallTime at{};
    SpanNews news;                 // spans with their host; may be empty
    bool comes_after_gap = false;  // of unknown content, with a new agent after it, or a lapse
  };

  // The next record of the readable part; nothing at the end.
  const std::optional<Record>& next() const { return next_; }
  std::optional<Record> take_next() {
    std::optional<Record> taken = std::exchange(next_, {});
    read_next();
    return taken;
  }

  const std::string& path() const { return path_; }

  // The filter's slower= and other reasons; 0: none, or unknown.
  std::uint64_t slower_ns() const { return slower_ns_; }
  std::uint32_t reasons() const { return reasons_; }

  // True if the end is missing; known once next() is nothing.
  bool is_cut() const { return is_cut_; }

 private:
  SpanArchive(std::string path, ArchiveContext context)
      : path_(std::move(path)), context_(std::move(context)) {}
  void read_next();
  void read_record(const pmapi::ArchiveResult& result);

  std::string path_;
  ArchiveContext context_;
  std::string host_;
  std::uint64_t slower_ns_ = 0;
  std::uint32_t reasons_ = 0;
  pmID events_ = PM_ID_NULL;
  pmID uptime_ = PM_ID_NULL;
  double uptime_s_ = 0;  // the agent's last uptime
  pmID lapses_metric_ = PM_ID_NULL;
  std::optional<std::uint32_t> lapses_;
  bool is_cut_ = false;
  std::optional<Record> next_;
};

Result<SpanArchive> SpanArchive::open(const std::string& path) {
  Result<ArchiveContext> context = open_archive(path);
  if (!context) return context.error();
  SpanArchive archive(path, *std::move(context));
  archive.events_ = lookup(kEventsMetric);
  archive.uptime_ = lookup("trace.agent.uptime");
  archive.lapses_metric_ = lookup("tracing.lapses");
  archive.host_ = host_name_of(archive.context_.number());
  if (const OwnedLabels labels = labels_by(pmGetContextLabels); !labels.all().empty())
    if (const auto filter = wire::parse_capture_filter(label_of(labels.all().front(), "spans"))) {
      archive.slower_ns_ = filter->slower_ns;
      archive.reasons_ = filter->reasons;
    }
  timespec end{};
  archive.is_cut_ = pmapi::get_archive_end(&end) == PM_ERR_LOGREC;
  if (const int error = archive.context_.rewind(); error < 0) return pcp_error(path, error);
  if (archive.has_spans()) archive.read_next();
  return archive;
}

void SpanArchive::read_next() {
  pmUseContext(context_.number());
  while (!next_) {
    pmapi::ArchiveResult* read = nullptr;
    if (const int error = pmapi::fetch_archive(&read); error < 0) {
      is_cut_ |= error != PM_ERR_EOL;
      return;
    }
    read_record(*OwnedArchiveResult(read));
  }
}

void SpanArchive::read_record(const pmapi::ArchiveResult& result) {
  Record record{moment_of(result.timestamp), {}, result.numpmid == 0};
  bool has_news = record.comes_after_gap;
  for (const pmValueSet* const set : sets_of(result)) {
    if (set->pmid == uptime_ && uptime_ != PM_ID_NULL) {
      const double uptime_s = double_of(*set).value_or(uptime_s_);
      record.comes_after_gap |= uptime_s < std::exchange(uptime_s_, uptime_s);
      has_news |= record.comes_after_gap;
    }
    if (set->pmid == lapses_metric_ && lapses_metric_ != PM_ID_NULL) {
      const std::optional<std::uint32_t> lapses = u32_of(*set);
      record.comes_after_gap |= lapses_ && lapses && *lapses > *lapses_;
      has_news |= record.comes_after_gap;
      if (lapses) lapses_ = lapses;
    }
    if (set->pmid != events_ || set->numval < 1 || set->valfmt == PM_VAL_INSITU) continue;
    std::optional<SpanNews> news = read_events(*set->vlist[0].value.pval);
    if (!news) continue;
    for (SpanEvent& span : news->spans)
      if (span.host.empty()) span.host = host_;
    record.news = *std::move(news);
    has_news = true;
  }
  if (has_news) next_ = std::move(record);
}

// Takes the earliest next record of all archives.
std::optional<SpanArchive::Record> take_earliest(std::vector<SpanArchive>& archives) {
  const auto first = std::min_element(
      archives.begin(), archives.end(), [](const SpanArchive& one, const SpanArchive& other) {
        return one.next() && (!other.next() || one.next()->at < other.next()->at);
      });
  return first->take_next();
}

bool is_within(WallTime at, const Window& window) { return at >= window.begin && at <= window.end; }

// True if the trace's first transaction, around all others, ended so.
bool has_ending(const SpanTrace& trace, std::optional<Ending> ending) {
  return !ending || nodes_of(trace).front().span->ended(*ending);
}

// True if the report shows the tag of some part of the trace.
bool is_chosen(const SpanTrace& trace, const LabelChoice& choice) {
  return !choice.leaves_out() || std::ranges::any_of(trace.spans, [&](const SpanEvent& span) {
    return choice.group_of(span.tag).has_value();
  });
}

WallTime begin_of(const SpanTrace& trace) {
  return WallTime(std::chrono::nanoseconds(trace.begin_ns()));
}

}  // namespace

Result<std::optional<RecordedSpans>> read_traces(const ReadRequest& request,
                                                 const std::function<bool(SpanTrace&&)>& take) {
  std::vector<SpanArchive> archives;
  for (const std::string& path : request.archives) {
    Result<SpanArchive> archive = SpanArchive::open(path);
    if (!archive) return archive.error();
    if (archive->has_spans()) archives.push_back(*std::move(archive));
  }
  if (archives.empty()) return std::optional<RecordedSpans>();
  RecordedSpans found;
  found.slower_ns = std::ranges::min_element(archives, {}, &SpanArchive::slower_ns)->slower_ns();
  found.reasons = wire::kAllReasons;
  for (const SpanArchive& archive : archives) found.reasons &= archive.reasons();
  bool is_enough = false;
  const auto give = [&](std::vector<SpanTrace> traces) {
    for (SpanTrace& trace : traces) {
      if (is_enough || !is_within(begin_of(trace), request.window)) continue;
      if (!trace.is_late) ++found.traces;
      std::uint32_t reasons = 0;
      for (const SpanEvent& span : trace.spans) reasons |= span.reasons();
      found.reasons &= reasons;  // older libraries and agents capture more than the filter asks for
      found.spans += trace.spans.size() + trace.spans_left_out;
      is_enough = !take(std::move(trace));
    }
  };
  TraceAssembly assembly(limits());
  Instant looked{};
  while (!is_enough) {
    std::optional<SpanArchive::Record> record = take_earliest(archives);
    if (!record) break;
    const Instant now(record->at.time_since_epoch());  // only differences matter
    if (is_within(record->at, request.window)) {
      found.missed += record->news.missed;
      found.has_gap |= record->comes_after_gap;
    }
    for (SpanEvent& span : record->news.spans) assembly.add(std::move(span), now);
    if (now - looked < kBetweenLooks) continue;
    looked = now;
    give(assembly.take_finished(now));
  }
  give(assembly.take_all());
  for (const SpanArchive& each : archives)
    if (each.is_cut()) found.cut.push_back(each.path());
  return std::optional(std::move(found));
}

void note_tags(RecordedSpans& spans, const SpanTrace& trace, std::optional<Ending> times_of) {
  for (const SpanEvent& span : trace.spans) {
    if (span.is_event()) continue;
    spans.is_nested[span.tag] |= span.parent != 0;
    if (span.was_open() || (times_of && !span.ended(*times_of))) continue;
    LongestSpan& its = spans.longest[span.tag];
    if (span.duration_ns >= its.duration_ns)
      its = {span.duration_ns, WallTime(std::chrono::nanoseconds(span.end_ns()))};
  }
}

void group_span_tags(RecordedSpans& spans, const LabelChoice& choice) {
  if (!choice.changes_tags()) return;
  std::map<std::string, bool> is_nested;
  for (const auto& [tag, its] : spans.is_nested) {
    const std::optional<std::string> group = choice.group_of(tag);
    if (!group) continue;
    is_nested[*group] |= its;
    if (*group != tag) spans.groups.emplace(tag, *group);
  }
  spans.is_nested = std::move(is_nested);
}

void note_died(Died& died, const SpanTrace& trace, const Window& window) {
  const std::optional<OpenRequest> request = open_request(nodes_of(trace));
  if (!request) return;
  const SpanEvent& outermost = request->outermost;
  if (!is_within(WallTime(std::chrono::nanoseconds(outermost.end_ns())), window)) return;
  ++died.requests;
  const auto shorter = std::ranges::find_if(died.longest, [&](const OpenRequest& each) {
    return each.outermost.duration_ns < outermost.duration_ns;
  });
  died.longest.insert(shorter, *request);
  if (died.longest.size() > Died::kMostNamed) died.longest.pop_back();
}

Result<std::optional<RecordedSpans>> read_spans(const ReadRequest& request, Exemplars* exemplars) {
  SlowestTraces slowest;
  TornSpans torn;
  WhySlow why(request.choice, request.times_of);
  RecordedSpans of_tags;
  Result<std::optional<RecordedSpans>> found = read_traces(request, [&](SpanTrace&& trace) {
    torn.learn(trace);
    torn.mark(trace);
    note_tags(of_tags, trace, request.times_of);
    why.choose(trace);
    if (!is_chosen(trace, request.choice)) return true;
    note_died(of_tags.died, trace, request.window);
    if (exemplars != nullptr) exemplars->add(trace);
    if (has_ending(trace, request.times_of)) slowest.add(std::move(trace));
    return true;
  });
  if (!found || !*found) return found;
  (*found)->slowest = slowest.take();
  for (SpanTrace& trace : (*found)->slowest) torn.mark(trace);
  (*found)->longest = std::move(of_tags.longest);
  (*found)->is_nested = std::move(of_tags.is_nested);
  (*found)->died = std::move(of_tags.died);
  (*found)->not_in_requests = why.left_out();
  if (!why.decide()) return found;
  const auto again = read_traces(request, [&](SpanTrace&& trace) {
    why.count(trace);
    return true;
  });
  if (!again) return again.error();
  (*found)->requests = why.take();
  return found;
}

}  // namespace pcp::trace::command
