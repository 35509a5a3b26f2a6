// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/model/recorded_spans.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "command/model/least_maxima.hpp"
#include "command/model/span_archive.hpp"
#include "command/traces/slowest_traces.hpp"
#include "command/traces/trace_assembly.hpp"

namespace pcp::trace::command {

namespace {

// A pmlogger samples every minute; a trace may be split over two samples.
constexpr TraceAssembly::Limits kLimits{.quiet = std::chrono::seconds(70),
                                        .orphaned = std::chrono::seconds(70),
                                        .longest = std::chrono::seconds(600),
                                        .traces = 100'000,
                                        .remembered = 100'000};
constexpr Duration kBetweenLooks = std::chrono::seconds(1);

// The records of all archives in order of time.
class AllSpans {
 public:
  Result<void> open(const std::string& path) {
    Result<SpanArchive> archive = SpanArchive::open(path);
    if (!archive) return archive.error();
    if (!archive->has_spans()) return {};
    archives_.push_back({path, *std::move(archive), {}});
    archives_.back().next = archives_.back().archive.next();
    return {};
  }

  bool empty() const { return archives_.empty(); }

  std::optional<SpanArchive::Record> next() {
    const auto first = std::min_element(
        archives_.begin(), archives_.end(), [](const auto& one, const auto& other) {
          return one.next && (!other.next || one.next->at < other.next->at);
        });
    if (first == archives_.end() || !first->next) return {};
    return std::exchange(first->next, first->archive.next());
  }

  // Complete only at the end.
  std::vector<std::string> cut() const {
    std::vector<std::string> paths;
    for (const Opened& each : archives_)
      if (each.archive.is_cut()) paths.push_back(each.path);
    return paths;
  }

 private:
  struct Opened {
    std::string path;
    SpanArchive archive;
    std::optional<SpanArchive::Record> next;
  };
  std::vector<Opened> archives_;
};

bool is_within(Moment at, const Window& window) { return at >= window.begin && at <= window.end; }

Moment begin_of(const SpanTrace& trace) {
  return Moment(std::chrono::nanoseconds(trace.begin_ns()));
}

void note_longest(std::map<std::string, LongestSpan>& longest, const SpanTrace& trace) {
  for (const SpanEvent& span : trace.spans) {
    if (span.aborted || span.is_event()) continue;
    LongestSpan& its = longest[span.tag];
    if (span.duration_ns >= its.duration_ns)
      its = {span.duration_ns, Moment(std::chrono::nanoseconds(span.end_ns()))};
  }
}

}  // namespace

Result<std::optional<RecordedSpans>> read_traces(const ReadRequest& request,
                                                 const std::function<bool(SpanTrace&&)>& take) {
  AllSpans all;
  for (const std::string& path : request.archives)
    if (const Result<void> opened = all.open(path); !opened) return opened.error();
  if (all.empty()) return std::optional<RecordedSpans>();
  RecordedSpans found;
  bool is_enough = false;
  const auto give = [&](std::vector<SpanTrace> traces) {
    for (SpanTrace& trace : traces) {
      if (is_enough || !is_within(begin_of(trace), request.window)) continue;
      if (!trace.is_late) ++found.traces;
      found.spans += trace.spans.size() + trace.left_out;
      is_enough = !take(std::move(trace));
    }
  };
  TraceAssembly assembly(kLimits);
  Instant looked{};
  while (!is_enough) {
    std::optional<SpanArchive::Record> record = all.next();
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
  found.cut = all.cut();
  return std::optional(std::move(found));
}

Result<std::optional<RecordedSpans>> read_spans(const ReadRequest& request) {
  SlowestTraces slowest;
  std::map<std::string, LongestSpan> longest;
  Result<std::optional<RecordedSpans>> found = read_traces(request, [&](SpanTrace&& trace) {
    note_longest(longest, trace);
    slowest.add(std::move(trace));
    return true;
  });
  if (found && *found) {
    (*found)->slowest = slowest.take();
    (*found)->longest = std::move(longest);
  }
  return found;
}

Result<void> add_spans(const ReadRequest& request, Model& model) {
  Result<std::optional<RecordedSpans>> spans = read_spans(request);
  if (!spans) return spans.error();
  model.spans = *std::move(spans);
  if (model.spans) raise_to_spans(model, *model.spans);
  return {};
}

}  // namespace pcp::trace::command
