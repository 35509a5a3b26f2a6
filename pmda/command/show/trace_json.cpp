// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/trace_json.hpp"

#include <chrono>
#include <cmath>
#include <vector>

#include "base/clock.hpp"

namespace pcp::trace::command {

namespace {

void write_id(JsonWriter& json, const char* key, std::uint64_t id) {
  json.key(key);
  id == 0 ? json.null() : json.text(text_of(id));
}

void write_time(JsonWriter& json, const char* key, std::uint64_t ns) {
  json.text(key, rfc3339(WallTime(std::chrono::nanoseconds(ns))));
}

void write_node(JsonWriter& json, const SpanTrace& trace, const Node& node,
                std::uint64_t begin_ns) {
  const SpanEvent& span = *node.span;
  json.object([&] {
    json.text("tag", span.tag);
    json.text("kind", name_of(span.kind));
    write_id(json, "span", span.span);
    if (!span.is_event()) write_id(json, "parent", span.parent);
    const auto write_torn = [&](const char* key, const std::string& service) {
      json.key(key);
      service.empty() ? json.null() : json.text(service);
    };
    if (const std::string* const from = torn_from(trace, node)) write_torn("torn_from", *from);
    if (const std::string* const to = lacks_part_in(trace, node)) write_torn("lacks_part_in", *to);
    json.number("depth", node.depth);
    write_time(json, "begin", span.begin_ns);
    json.number("offset_ns", span.begin_ns - begin_ns);
    if (!span.is_event()) {
      json.number("duration_ns", span.duration_ns);
      if (span.was_open()) json.truth("was_open", true);
      json.truth("aborted", span.aborted);
      if (!span.reason.empty()) json.text("reason", span.reason);
    } else if (span.kind != wire::SpanKind::Point) {
      json.number("value", span.value);
    }
    json.text("host", span.host);
    json.text("service", span.service);
    json.text("process", span.process.empty() ? span.service : span.process);
    json.number("pid", span.pid);
    json.number("tid", span.tid);
    json.number("flags", span.flags);
    if (!span.attributes.empty()) json.object("attributes", [&] { write_attributes(json, span); });
    if (!span.links.empty())
      json.list("links", words_of(span.links), [&](const std::string& link) { json.text(link); });
    if (span.left_out > 0) json.number("left_out", span.left_out);
  });
}

}  // namespace

void write_attributes(JsonWriter& json, const SpanEvent& span) {
  for (const ShownAttribute& attribute : attributes_of(span.attributes)) {
    json.exact_key(attribute.key);
    // JSON has no infinity.
    attribute.number&& std::isfinite(*attribute.number) ? json.number(*attribute.number)
                                                        : json.exact_text(attribute.text);
  }
}

void write_trace(JsonWriter& json, const SpanTrace& trace) {
  const std::vector<Node> nodes = nodes_of(trace);
  const std::uint64_t begin_ns = trace.begin_ns();
  bool has_root = false;
  bool is_torn = false;
  for (const Node& each : nodes) {
    has_root |= !each.span->is_event() && each.span->parent == 0;
    is_torn |= torn_from(trace, each) != nullptr;
  }
  json.object([&] {
    json.key("trace");
    trace.id.is_set() ? json.text(text_of(trace.id)) : json.null();
    write_time(json, "begin", begin_ns);
    json.number("duration_ns", trace.end_ns() - begin_ns);
    if (trace.slow_span != 0) write_id(json, "slow_span", trace.slow_span);
    json.truth("has_root", has_root);
    json.truth("is_torn", is_torn);
    json.truth("is_late", trace.is_late);
    json.number("left_out", trace.spans_left_out);
    json.list("spans", nodes, [&](const Node& node) { write_node(json, trace, node, begin_ns); });
  });
}

std::string trace_json(const SpanTrace& trace) {
  JsonWriter json;
  write_trace(json, trace);
  return json.document() + "\n";
}

}  // namespace pcp::trace::command
