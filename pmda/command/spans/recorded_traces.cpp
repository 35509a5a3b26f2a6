// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/spans/recorded_traces.hpp"

#include <string>
#include <utility>

#include "command/pcp/recording_folder.hpp"
#include "command/run/archive_reader.hpp"
#include "command/run/torn_spans.hpp"
#include "command/show/shown.hpp"
#include "command/words.hpp"

namespace pcp::trace::command {

Result<std::optional<RecordedSpans>> read_recorded(const WatchOptions& options, Marks marks,
                                                   const std::function<bool(SpanTrace&&)>& take) {
  ReadRequest request;
  for (const std::string& name : options.archives) {
    Result<std::string> archive = find_archive(name);
    if (!archive) return archive.error();
    request.archives.push_back(*std::move(archive));
  }
  TornSpans torn;
  const auto learn = [&](SpanTrace&& trace) {
    torn.learn(trace);
    return true;
  };
  if (marks == Marks::Torn)  // later traces, too, tell who calls whom
    if (const auto read = read_traces(request, learn); !read) return read.error();
  TraceChoice choice(options.wanted);
  std::uint64_t taken = 0;
  return read_traces(request, [&](SpanTrace&& trace) {
    if (marks == Marks::Torn) torn.mark(trace);
    if (!choice.takes(trace)) return true;
    return take(std::move(trace)) && ++taken != options.traces;
  });
}

void tell_that_none_are_recorded(const WatchOptions& options, const char* word) {
  complain(word, printed_name(options.archives.front()) +
                     ": has no single transactions. Record with `pcp-trace record --spans FILTER`");
}

void tell_what_is_missing(const RecordedSpans& spans, const char* word) {
  for (const std::string& archive : spans.cut)
    complain(word, printed_name(archive) + ": its end is missing");
  if (spans.missed > 0 || spans.has_gap)
    complain(word, "when they were recorded: " + Shown::missed(spans.missed, spans.has_gap));
}

}  // namespace pcp::trace::command
