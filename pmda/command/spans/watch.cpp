// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/spans/watch.hpp"

#include <unistd.h>

#include <iostream>
#include <string>

#include "base/clock.hpp"
#include "command/pcp/pcp_host.hpp"
#include "command/run/torn_spans.hpp"
#include "command/show/explanation.hpp"
#include "command/show/shown.hpp"
#include "command/spans/span_feed.hpp"
#include "command/words.hpp"

namespace pcp::trace::command {

namespace {

constexpr Duration kCheckInterval = std::chrono::milliseconds(100);  // between two checks

// An agent counts what a monitor misses, but not the reasons apart.
std::string why_missed(const wire::CaptureFilter& filter) {
  return filter.has_reason()
             ? " missed: parts had gone before their request was wanted (PCP_TRACE_HOLD gives"
               " programs more room), or more than limit= allows, or more than 1,000 such requests "
               "a"
               " second of a user"
             : " missed: more than limit= and the room for spans allow; share= makes them fewer";
}

class Watch {
 public:
  Watch(const WatchOptions& options, const char* word,
        const std::function<bool(const SpanTrace&)>& take,
        const std::function<void(std::size_t)>& note_end)
      : options_(options),
        word_(word),
        take_(take),
        note_end_(note_end),
        feed_(options.hosts, wire::text_of(options.filter)),
        assembly_(limits_for(options.filter)),
        hosts_left_(options.hosts.size()) {}

  Watched run(Interruption& interruption) {
    while (!is_enough_ && hosts_left_ > 0 &&
           !interruption.comes_before(steady_now() + kCheckInterval, {feed_.descriptor()})) {
      const Instant now = steady_now();
      for (HostNews& news : feed_.take()) note(news, now);
      give(assembly_.take_finished(now));
    }
    if (!is_enough_)
      for (HostNews& news : feed_.finish()) note(news, steady_now());
    give(assembly_.take_all());
    watched_.was_possible = hosts_left_ > 0;
    return watched_;
  }

 private:
  void say(const std::string& what) { complain(word_, what); }

  void note(HostNews& news, Instant now) {
    const std::string host = shown_host(options_.hosts[news.host]);
    if (!news.told.empty()) say(host + news.told);
    if (news.is_over) {
      --hosts_left_;
      if (note_end_) note_end_(news.host);
    }
    watched_.has_gap |= news.has_gap;
    if (news.missed > 0 && watched_.missed == 0)
      say(host + ": " + Shown::counted(news.missed, "span") + why_missed(options_.filter));
    watched_.missed += news.missed;
    watched_.waiting += news.waiting;
    has_come_ |= !news.spans.empty();
    if (news.facts && !has_come_)
      std::cerr << "pcp-trace " << word_ << ": "
                << explanation(*news.facts, options_.filter, Shown(terminal_of(STDERR_FILENO)));
    for (SpanEvent& span : news.spans) assembly_.add(std::move(span), now);
  }

  void give(std::vector<SpanTrace> traces) {
    for (SpanTrace& trace : traces) {
      if (is_enough_) return;
      torn_.learn(trace);
      torn_.mark(trace);
      trace.slow_span = slow_span(trace, options_.filter);
      if (!choice_.takes(trace)) {
        ++watched_.others;
        continue;
      }
      ++watched_.traces;
      watched_.spans += trace.spans.size() + trace.spans_left_out;
      is_enough_ = !take_(trace) || watched_.traces == options_.traces;
    }
  }

  const WatchOptions& options_;
  const char* const word_;
  const std::function<bool(const SpanTrace&)>& take_;
  const std::function<void(std::size_t)>& note_end_;
  SpanFeed feed_;
  TraceAssembly assembly_;
  TornSpans torn_;
  TraceChoice choice_{options_.wanted};
  Watched watched_;
  std::size_t hosts_left_;
  bool has_come_ = false;
  bool is_enough_ = false;
};

}  // namespace

TraceAssembly::Limits limits_for(const wire::CaptureFilter& filter) {
  TraceAssembly::Limits limits;
  if (filter.slower_ns == 0) return limits;
  limits.selects = [&filter](const SpanEvent& span) { return is_slow(span, filter); };
  limits.longest += std::chrono::nanoseconds(filter.slower_ns);
  return limits;
}

Watched watch(const WatchOptions& options, Interruption& interruption, const char* word,
              const std::function<bool(const SpanTrace&)>& take,
              const std::function<void(std::size_t)>& note_end) {
  settle_environment();
  if (options.duration) interruption.come_at(steady_now() + *options.duration);
  return Watch(options, word, take, note_end).run(interruption);
}

void tell_of(const Watched& watched, const char* word) {
  if (watched.traces == 0 && watched.others > 0)
    complain(word, "no trace matches, of " + Shown::counted(watched.others, "captured trace"));
  const bool is_all = watched.missed == 0 && !watched.has_gap && watched.waiting == 0;
  if (!watched.was_possible || (is_all && ::isatty(STDERR_FILENO) == 0)) return;
  complain(word, Shown::counted(watched.traces, "trace") + ", " +
                     Shown::counted(watched.spans, "span") + "; " +
                     Shown::missed(watched.missed, watched.has_gap) +
                     (watched.waiting == 0 ? ""
                                           : "; " + Shown::counted(watched.waiting, "span") +
                                                 " still waited at the agent, and are left out"));
}

}  // namespace pcp::trace::command
