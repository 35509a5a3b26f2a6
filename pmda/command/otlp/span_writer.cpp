// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/otlp/span_writer.hpp"

#include <charconv>
#include <map>
#include <tuple>
#include <vector>

#include "wire/dimensions.hpp"

namespace pcp::trace::command::otlp {

namespace {

using protozero::pbf_writer;

int kind_of(const SpanEvent& span) {
  switch (span.kind) {
    case wire::SpanKind::Server:
      return span::kServer;
    case wire::SpanKind::Client:
      return span::kClient;
    default:
      return span::kInternal;
  }
}

// The last note of a key counts, and a note more than a label.
Attributes attributes_of(const SpanEvent& span) {
  Attributes attributes = labels_of(span.tag);
  for (const ShownAttribute& note : command::attributes_of(span.attributes)) {
    auto& attribute = attributes[note.key];
    if (note.number)
      attribute = *note.number;
    else
      attribute = note.text;
  }
  attributes.emplace("thread.id", std::int64_t{span.tid});
  if (span.was_open()) attributes.emplace("error.type", "process_died");
  return attributes;
}

void add_event(pbf_writer& message, const SpanEvent& event) {
  pbf_writer made(message, span::kEvents);
  made.add_fixed64(span::kEventTime, event.begin_ns);
  add_text(made, span::kEventName, bare_name(event.tag));
  Attributes attributes = labels_of(event.tag);
  if (event.kind != wire::SpanKind::Point)
    attributes[event.kind == wire::SpanKind::Add ? "added" : "value"] = event.value;
  add_attributes(made, span::kEventAttributes, attributes);
}

std::optional<std::uint64_t> id_of(std::string_view hex) {
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), id, 16);
  if (error != std::errc() || end != hex.data() + hex.size() || hex.size() != 16) return {};
  return id;
}

// Links are texts of the form of span_text.hpp.
void add_links(pbf_writer& message, const SpanEvent& span) {
  for (const std::string& word : words_of(span.links)) {
    const std::string_view link = word;
    if (link.size() != 49) continue;
    const auto high = id_of(link.substr(0, 16));
    const auto low = id_of(link.substr(16, 16));
    const auto its = id_of(link.substr(33));
    if (!high || !low || !its) continue;
    pbf_writer made(message, span::kLinks);
    add_trace_id(made, span::kLinkTrace, {*high, *low});
    add_span_id(made, span::kLinkSpan, *its);
  }
}

void add_status(pbf_writer& message, const SpanEvent& span) {
  if (!span.aborted && !span.was_open()) return;
  pbf_writer status(message, span::kStatus);
  const std::string why = span.was_open() ? kWasOpenText : span.reason;
  if (!why.empty()) add_text(status, kStatusMessage, why);
  status.add_enum(span::kStatusCode, span::kError);
}

std::uint32_t flags_of(const SpanEvent& span) {
  const std::uint32_t of_w3c = span.flags & 0xff;
  return (span.flags & wire::kParentIsElsewhere) == 0
             ? of_w3c
             : of_w3c | span::kKnowsWhereParentIs | span::kParentIsRemote;
}

// Requires: `events` are in the span.
void add_span(pbf_writer& scope_spans, const SpanEvent& span,
              const std::vector<const SpanEvent*>& events) {
  pbf_writer made(scope_spans, kItems);
  add_trace_id(made, span::kTrace, span.trace);
  add_span_id(made, span::kSpan, span.span);
  if (span.parent != 0) add_span_id(made, span::kParent, span.parent);
  add_text(made, span::kName, bare_name(span.tag));
  made.add_enum(span::kKind, kind_of(span));
  made.add_fixed64(span::kBegin, span.begin_ns);
  made.add_fixed64(span::kEnd, span.end_ns());
  add_attributes(made, span::kAttributes, attributes_of(span));
  if (span.left_out > 0) made.add_uint32(span::kLeftOut, span.left_out);
  for (const SpanEvent* const event : events) add_event(made, *event);
  add_links(made, span);
  add_status(made, span);
  made.add_fixed32(span::kFlags, flags_of(span));
}

Attributes resource_of(const SpanEvent& span) {
  const std::string& process = span.process.empty() ? span.service : span.process;
  return {{"service.name", span.service.empty() ? process : span.service},
          {"service.instance.id", span.host + ":" + std::to_string(span.pid)},
          {"host.name", span.host},
          {"process.executable.name", process},
          {"process.pid", std::int64_t{span.pid}}};
}

}  // namespace

Piece spans_of(const SpanTrace& trace) {
  std::map<std::uint64_t, std::vector<const SpanEvent*>> events;  // by span
  using Process = std::tuple<std::string, std::uint32_t, std::string, std::string>;
  std::map<Process, std::vector<const SpanEvent*>> processes;
  for (const SpanEvent& each : trace.spans) {
    if (each.is_event())
      events[each.span].push_back(&each);
    else
      processes[{each.host, each.pid, each.service, each.process}].push_back(&each);
  }
  Piece piece;
  pbf_writer request(piece.bytes);
  for (const auto& [process, spans] : processes) {
    pbf_writer resource_spans(request, kRequestResources);
    add_resource(resource_spans, resource_of(*spans.front()));
    pbf_writer scope_spans(resource_spans, kScopeItems);
    add_scope(scope_spans);
    for (const SpanEvent* const span : spans) {
      const auto its = events.extract(span->span);
      add_span(scope_spans, *span, its ? its.mapped() : std::vector<const SpanEvent*>());
    }
    piece.items += spans.size();
  }
  piece.left_out = trace.spans_left_out;
  for (const auto& [span, without_it] : events) piece.left_out += without_it.size();
  return piece;
}

}  // namespace pcp::trace::command::otlp
