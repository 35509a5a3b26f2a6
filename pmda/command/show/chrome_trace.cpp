// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/chrome_trace.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "base/clock.hpp"
#include "command/show/json_writer.hpp"
#include "command/show/trace_json.hpp"

namespace pcp::trace::command {

namespace {

using Host = std::string;
using Process = std::pair<Host, std::uint32_t>;

// Steps per microsecond: each is shorter than a nanosecond.
constexpr double kSteps = 8192;

class ChromeDocument {
 public:
  explicit ChromeDocument(const std::vector<SpanTrace>& traces) : traces_(traces) {
    for (const SpanTrace& trace : traces)
      for (const SpanEvent& span : trace.spans) add(span);
    if (threads_.empty()) base_ns_ = 0;
    for (auto& [thread, spans] : threads_) find_nested(spans);
  }

  std::string text();

 private:
  using Thread = std::pair<Process, std::uint32_t>;

  void add(const SpanEvent& span);
  void find_nested(std::vector<const SpanEvent*>& spans);
  double number_of(const SpanEvent& span) const {
    return processes_.at({span.host, span.pid}).number;
  }
  double microseconds(std::uint64_t ns) const;

  void name_processes();
  void nodes(const SpanTrace& trace);
  void span(const SpanEvent& span);
  void complete(const SpanEvent& span);
  void asynchronous(const SpanEvent& span);
  void event(const SpanEvent& span);
  void arrow(const SpanEvent& from, const SpanEvent& to);
  void call(const SpanEvent& from, const SpanEvent& to);
  void bind(const SpanEvent& called, const char* direction);
  void arguments(const SpanEvent& span);

  // Writes an event of the document with its place, its time, and the members of `rest`.
  template <typename Rest>
  void write(const char* phase, const SpanEvent& where, std::uint64_t ns, Rest rest);

  struct Named {
    double number = 0;  // its pid, or a free number if another host's process has that pid
    std::string service;
  };

  const std::vector<SpanTrace>& traces_;
  std::map<Process, Named> processes_;
  std::set<std::uint32_t> taken_;
  std::map<Thread, std::vector<const SpanEvent*>> threads_;
  std::unordered_set<const SpanEvent*> nested_;
  std::unordered_set<const SpanEvent*> called_;  // elsewhere, by a span that is not nested
  std::uint64_t base_ns_ = std::numeric_limits<std::uint64_t>::max();
  JsonWriter json_;
};

void ChromeDocument::add(const SpanEvent& span) {
  base_ns_ = std::min(base_ns_, span.begin_ns);
  const Process process{span.host, span.pid};
  if (const auto [place, is_new] = processes_.try_emplace(process); is_new) {
    std::uint32_t number = span.pid;
    while (!taken_.insert(number).second) ++number;
    place->second = {static_cast<double>(number),
                     span.service.empty() ? span.process : span.service};
  }
  std::vector<const SpanEvent*>& its = threads_[{process, span.tid}];
  if (!span.is_event()) its.push_back(&span);
}

// If two spans overlap, the later one is not nested.
void ChromeDocument::find_nested(std::vector<const SpanEvent*>& spans) {
  std::sort(spans.begin(), spans.end(), [](const SpanEvent* one, const SpanEvent* other) {
    return std::tuple(one->begin_ns, other->duration_ns, one->span) <
           std::tuple(other->begin_ns, one->duration_ns, other->span);
  });
  std::vector<std::uint64_t> ends;
  for (const SpanEvent* const span : spans) {
    while (!ends.empty() && ends.back() <= span->begin_ns) ends.pop_back();
    if (!ends.empty() && ends.back() < span->end_ns()) continue;
    ends.push_back(span->end_ns());
    nested_.insert(span);
  }
}

std::string ChromeDocument::text() {
  json_.object([&] {
    json_.text("displayTimeUnit", "ns");
    json_.object("otherData", [&] {
      json_.text("base", rfc3339(WallTime(std::chrono::nanoseconds(base_ns_))));
      json_.text("base_ns", std::to_string(base_ns_));
    });
    json_.array("traceEvents", [&] {
      name_processes();
      for (const SpanTrace& trace : traces_) nodes(trace);
    });
  });
  return json_.document() + "\n";
}

// In whole steps, so that doubles and their sums are exact. A reader that adds a duration to a
// begin gets exactly the begin or end of the next span. Otherwise these could seem to overlap,
// which speedscope cannot handle.
double ChromeDocument::microseconds(std::uint64_t ns) const {
  return std::nearbyint(static_cast<double>(ns - base_ns_) * (kSteps / 1000)) / kSteps;
}

void ChromeDocument::name_processes() {
  const auto name = [&](const char* what, double process, double thread, const std::string& is) {
    json_.object([&] {
      json_.text("ph", "M");
      json_.text("name", what);
      json_.number("pid", process);
      json_.number("tid", thread);
      json_.object("args", [&] { json_.text("name", is); });
    });
  };
  for (const auto& [process, named] : processes_) {
    const auto& [host, pid] = process;
    name("process_name", named.number, 0,
         named.service + " " + std::to_string(pid) + (host.empty() ? "" : "@" + host));
  }
  for (const auto& [thread, spans] : threads_) {
    const auto& [process, tid] = thread;
    name("thread_name", processes_.at(process).number, tid, "thread " + std::to_string(tid));
  }
}

void ChromeDocument::nodes(const SpanTrace& trace) {
  for (const Node& node : nodes_of(trace)) {
    const bool is_elsewhere = node.parent != nullptr && !node.parent->is_event() &&
                              !node.span->is_event() &&
                              number_of(*node.parent) != number_of(*node.span);
    const bool is_by_nested = is_elsewhere && nested_.contains(node.parent);
    if (is_elsewhere && !is_by_nested) call(*node.parent, *node.span);
    span(*node.span);
    if (is_by_nested && nested_.contains(node.span)) arrow(*node.parent, *node.span);
  }
}

void ChromeDocument::span(const SpanEvent& span) {
  if (span.is_event())
    event(span);
  else if (nested_.contains(&span))
    complete(span);
  else
    asynchronous(span);
}

template <typename Rest>
void ChromeDocument::write(const char* phase, const SpanEvent& where, std::uint64_t ns, Rest rest) {
  json_.object([&] {
    json_.text("ph", phase);
    json_.text("name", where.tag);
    json_.text("cat", name_of(where.kind));
    json_.number("pid", number_of(where));
    json_.number("tid", where.tid);
    json_.number("ts", microseconds(ns));
    rest();
  });
}

void ChromeDocument::complete(const SpanEvent& span) {
  write("X", span, span.begin_ns, [&] {
    json_.number("dur", microseconds(span.end_ns()) - microseconds(span.begin_ns));
    if (called_.contains(&span)) bind(span, "flow_in");
    arguments(span);
  });
}

void ChromeDocument::asynchronous(const SpanEvent& span) {
  const std::string id = "0x" + text_of(span.span);
  write("b", span, span.begin_ns, [&] {
    json_.text("id", id);
    if (called_.contains(&span)) bind(span, "flow_in");
    arguments(span);
  });
  write("e", span, span.end_ns(), [&] { json_.text("id", id); });
}

void ChromeDocument::event(const SpanEvent& span) {
  const bool is_counter =
      span.kind == wire::SpanKind::Observe || span.kind == wire::SpanKind::Counter;
  write(is_counter ? "C" : "i", span, span.begin_ns, [&] {
    if (!is_counter) json_.text("s", "t");
    if (span.kind == wire::SpanKind::Point) return;
    json_.object("args", [&] { json_.number(is_counter ? "value" : "added", span.value); });
  });
}

// Starts within `from` and ends at the begin of `to`; clocks of two hosts may differ.
void ChromeDocument::arrow(const SpanEvent& from, const SpanEvent& to) {
  const std::string id = "0x" + text_of(to.span);
  const auto flow = [&](const char* phase, const SpanEvent& where, std::uint64_t ns) {
    json_.object([&] {
      json_.text("ph", phase);
      json_.text("name", "calls");
      json_.text("cat", "calls");
      json_.text("id", id);
      json_.number("pid", number_of(where));
      json_.number("tid", where.tid);
      json_.number("ts", microseconds(ns));
      if (*phase == 'f') json_.text("bp", "e");
    });
  };
  flow("s", from, std::clamp(to.begin_ns, from.begin_ns, from.end_ns()));
  flow("f", to, to.begin_ns);
}

// The arrow from a caller that is not nested: no slice of a thread is its own, so it starts from an
// instant among the asynchronous ones, and ends at what was called.
void ChromeDocument::call(const SpanEvent& from, const SpanEvent& to) {
  called_.insert(&to);
  write("n", from, std::clamp(to.begin_ns, from.begin_ns, from.end_ns()), [&] {
    json_.text("id", "0x" + text_of(from.span));
    bind(to, "flow_out");
  });
}

void ChromeDocument::bind(const SpanEvent& called, const char* direction) {
  json_.text("bind_id", "0x" + text_of(called.span));
  json_.truth(direction, true);
}

// Without ids, so that viewers can add up spans with the same name and arguments.
void ChromeDocument::arguments(const SpanEvent& span) {
  if (!span.aborted && !span.was_open() && span.attributes.empty()) return;
  json_.object("args", [&] {
    if (span.aborted) json_.text("aborted", span.reason);
    if (span.was_open()) json_.text("died", kWasOpenText);
    write_attributes(json_, span);
  });
}

}  // namespace

std::string chrome_trace(const std::vector<SpanTrace>& traces) {
  return ChromeDocument(traces).text();
}

}  // namespace pcp::trace::command
