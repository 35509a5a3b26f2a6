// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/traces/trace_json.hpp"

#include <chrono>

#include "command/traces/span_attributes.hpp"
#include "command/traces/span_ids.hpp"

namespace pcp::trace::command {

namespace {

class TraceObject {
 public:
  TraceObject(JsonWriter& json, const SpanTrace& trace)
      : trace_(trace), begin_(trace.begin_ns()), json_(json) {}

  void write();

 private:
  void text_if_any(const char* key, const std::string& value) {
    if (!value.empty()) json_.text(key, value);
  }
  void id(const char* key, std::uint64_t id) {
    json_.key(key);
    id == 0 ? json_.null() : json_.text(text_of(id));
  }
  void time(const char* key, std::uint64_t ns) {
    using Nanoseconds = std::chrono::nanoseconds;
    json_.text(key, rfc3339(std::chrono::sys_time<Nanoseconds>(Nanoseconds(ns))));
  }
  void node(const Node& node);
  void links(const SpanEvent& span);

  const SpanTrace& trace_;
  const std::uint64_t begin_;
  JsonWriter& json_;
};

void TraceObject::write() {
  const std::vector<Node> nodes = nodes_of(trace_);
  bool has_root = false;
  for (const Node& each : nodes) has_root |= !each.span->is_event() && each.span->parent == 0;
  json_.object([&] {
    json_.key("trace");
    trace_.id.is_set() ? json_.text(text_of(trace_.id)) : json_.null();
    time("begin", begin_);
    json_.number("duration_ns", trace_.end_ns() - begin_);
    json_.truth("has_root", has_root);
    json_.truth("is_late", trace_.is_late);
    json_.number("left_out", trace_.left_out);
    json_.array("spans", [&] {
      for (const Node& each : nodes) node(each);
    });
  });
}

void TraceObject::node(const Node& node) {
  const SpanEvent& span = *node.span;
  json_.object([&] {
    json_.text("tag", span.tag);
    json_.text("kind", name_of(span.kind));
    id("span", span.span);
    if (!span.is_event()) id("parent", span.parent);
    json_.number("depth", node.depth);
    time("begin", span.begin_ns);
    json_.number("offset_ns", span.begin_ns - begin_);
    if (!span.is_event()) {
      json_.number("duration_ns", span.duration_ns);
      json_.truth("aborted", span.aborted);
      text_if_any("reason", span.reason);
    } else if (span.kind != wire::SpanKind::Point) {
      json_.number("value", span.value);
    }
    json_.text("host", span.host);
    json_.text("service", span.service);
    json_.text("process", span.process.empty() ? span.service : span.process);
    json_.number("pid", span.pid);
    json_.number("tid", span.tid);
    json_.number("flags", span.flags);
    if (!span.attributes.empty()) {
      json_.object("attributes", [&] { write_attributes(json_, span); });
    }
    links(span);
    if (span.left_out > 0) json_.number("left_out", span.left_out);
  });
}

void TraceObject::links(const SpanEvent& span) {
  if (span.links.empty()) return;
  json_.array("links", [&] {
    for (const std::string& link : words_of(span.links)) json_.text(link);
  });
}

}  // namespace

void write_attributes(JsonWriter& json, const SpanEvent& span) {
  for (const SpanAttribute& attribute : attributes_of(span.attributes)) {
    json.exact_key(attribute.key);
    attribute.number ? json.number(*attribute.number) : json.exact_text(attribute.text);
  }
}

void write_trace(JsonWriter& json, const SpanTrace& trace) { TraceObject(json, trace).write(); }

std::string trace_json(const SpanTrace& trace) {
  JsonWriter json;
  write_trace(json, trace);
  return json.document() + "\n";
}

}  // namespace pcp::trace::command
