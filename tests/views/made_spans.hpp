// SPDX-License-Identifier: LGPL-2.1-or-later
// Made-up traces for pages.
#pragma once

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "command/run/archive_reader.hpp"
#include "command/run/exemplars.hpp"
#include "command/run/model.hpp"
#include "command/run/slowest_traces.hpp"
#include "command/run/why_slow.hpp"

namespace pcp::trace::command {

inline SpanEvent made_span(const std::string& tag, std::uint64_t id, std::uint64_t parent,
                           std::uint64_t begin_us, std::uint64_t us) {
  SpanEvent span;
  span.tag = tag;
  span.span = id;
  span.parent = parent;
  span.begin_ns = begin_us * 1000;
  span.duration_ns = us * 1000;
  span.host = "build7";
  span.service = "front";
  span.pid = 4711;
  return span;
}

// Moves a span to another host.
inline SpanEvent elsewhere(SpanEvent span, const std::string& service, std::uint32_t pid,
                           const std::string& host = "build7") {
  span.service = service;
  span.pid = pid;
  span.host = host;
  return span;
}

inline SpanEvent made_event(wire::SpanKind kind, const std::string& tag, std::uint64_t within,
                            std::uint64_t at_us, double value) {
  SpanEvent event = made_span(tag, within, 0, at_us, 0);
  event.kind = kind;
  event.value = value;
  return event;
}

// A checkout that calls two other services; it takes `slowness` times as long as usual.
inline SpanTrace checkout(std::uint64_t id, std::uint64_t begin_us, std::uint64_t slowness) {
  const auto us = [slowness](std::uint64_t usual) { return usual * slowness; };
  const auto at = [&](std::uint64_t usual) { return begin_us + us(usual); };
  SpanTrace trace;
  trace.id = {0x4bf92f3577b34da6, id};
  auto& spans = trace.spans;
  spans.push_back(made_span("checkout", 1, 0, at(0), us(1480)));
  spans.back().attributes = "route=/cart customer=gold items=3";
  if (id % 20 == 10) {
    spans.back().aborted = true;
    spans.back().reason = "timed out";
  }
  spans.push_back(made_span("session", 2, 1, at(12), us(55)));
  if (slowness > 40) spans.back().attributes = "user=robot";
  spans.push_back(made_span("reserve-stock", 3, 1, at(80), us(620)));
  spans.push_back(elsewhere(made_span("reserve", 4, 3, at(110), us(560)), "stock", 815, "build9"));
  spans.push_back(
      elsewhere(made_span("sql{table=orders}", 5, 4, at(130), us(410)), "stock", 815, "build9"));
  spans.back().attributes = "rows=12 statement=update\\x20orders\\x20set\\x20state";
  spans.push_back(elsewhere(made_event(wire::SpanKind::Point, "cache-miss", 4, at(121), 0), "stock",
                            815, "build9"));
  spans.push_back(made_span("payment", 6, 1, at(720), us(690)));
  spans.back().aborted = id % 2 == 1;
  if (spans.back().aborted) spans.back().reason = "card declined: try again";
  spans.push_back(elsewhere(made_span("authorise", 7, 6, at(745), us(600)), "bank", 99));
  spans.back().links = "0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331";
  spans.back().left_out = 2;
  spans.push_back(
      elsewhere(made_event(wire::SpanKind::Observe, "queue-length", 7, at(900), 17), "bank", 99));
  spans.push_back(made_event(wire::SpanKind::Add, "bytes-sent", 1, at(1430), 4096));
  spans.push_back(made_span("render", 8, 1, at(1420), us(48)));
  for (SpanEvent& each : spans) each.trace = trace.id;
  return trace;
}

// More spans than a page shows, nested 40 deep.
inline SpanTrace deep(std::uint64_t begin_us) {
  SpanTrace trace;
  trace.id = {1, 1};
  for (std::uint64_t i = 1; i <= 500; ++i)
    trace.spans.push_back(made_span("level-" + std::to_string(i), i, i < 40 ? i - 1 : 39,
                                    begin_us + i * 20, 200'000 - i * 50));
  return trace;
}

inline RecordedSpans made_spans(WallTime begin, WallTime end) {
  const auto begin_us = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(begin.time_since_epoch()).count());
  std::mt19937 random(5);
  SlowestTraces slowest;
  RecordedSpans spans{1234, 13'579, 17, {}};
  Exemplars exemplars(begin, end);
  WhySlow why({}, {});
  std::vector<SpanTrace> all;
  const auto add = [&](SpanTrace trace) {
    note_tags(spans, trace);
    all.push_back(trace);
    exemplars.add(trace);
    slowest.add(std::move(trace));
  };
  for (std::uint64_t id = 1; id <= 60; ++id)
    add(checkout(id, begin_us + id * 2'500'000 + 123, 5 + random() % 40));
  for (std::uint64_t id = 101; id <= 400; ++id) all.push_back(checkout(id, begin_us, 1 + id % 5));
  add(deep(begin_us + 100'000));
  SpanTrace orphan = checkout(99, begin_us + 7'000'000, 30);
  orphan.spans.erase(orphan.spans.begin());
  orphan.torn = {{6, "front<b>"}};
  orphan.lacks_part_in = {{6, "bank<b>"}};
  add(std::move(orphan));
  spans.slowest = slowest.take();
  spans.exemplars = exemplars.take(spans.slowest);
  for (const SpanTrace& trace : all) why.choose(trace);
  why.decide();
  for (const SpanTrace& trace : all) why.count(trace);
  spans.requests = why.take();
  return spans;
}

}  // namespace pcp::trace::command
