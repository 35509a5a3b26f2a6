// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/model_json.hpp"

#include <array>
#include <chrono>

#include "command/run/imbalance.hpp"
#include "command/show/shown.hpp"
#include "command/show/trace_json.hpp"
#include "wire/dimensions.hpp"

namespace pcp::trace::command {

namespace {

const char* word_for(Verdict verdict) {
  constexpr std::array kNames{"not judged", "noise", "real"};
  return kNames[static_cast<std::size_t>(verdict)];
}

void write_tag(JsonWriter& json, const ComparedTag& tag) {
  json.text("name", tag.now->name);
  json.text("type", type_name(tag.now->type));
  json.number("lost_s", tag.lost_s);
  json.object("changes", [&] {
    for (const FigureRow& row : kFigures) {
      const Difference& change = tag.of(row.figure);
      if (!change.before && !change.now) continue;
      json.object(row.word, [&] {
        json.number("before", change.before);
        json.number("now", change.now);
        json.text("verdict", word_for(change.verdict));
      });
    }
  });
}

void write_values(JsonWriter& json, const Tag& tag, double divisor) {
  json.object([&] {
    json.text("name", tag.name);
    json.text("type", type_name(tag.type));
    json.object("values", [&] {
      for (const FigureRow& row : kFigures)
        if (const auto value = compared_value_of(tag, row.figure, divisor))
          json.number(row.word, *value);
    });
  });
}

constexpr double kFormat = 2;  // version of the document; within one version nothing is removed

void write_texts(JsonWriter& json, const char* key, const std::vector<std::string>& texts) {
  json.list(key, texts, [&](const std::string& each) { json.text(each); });
}

void write_run(JsonWriter& json, const Run& run) {
  json.object("run", [&] {
    write_texts(json, "archives", run.archives);
    write_texts(json, "hosts", run.hosts);
    json.key("command");
    run.command.empty() ? json.null() : json.text(run.command);
    json.text("begin", rfc3339(run.begin));
    json.text("end", rfc3339(run.end));
    json.number("elapsed_s", run.elapsed_s());
    json.number("samples", run.samples);
    json.number("interval_s", run.interval_s());
    json.list("gaps", run.gaps, [&](const Gap& gap) {
      json.object([&] {
        json.text("host", run.hosts[gap.host]);
        json.text("begin", rfc3339(gap.begin));
        json.text("end", rfc3339(gap.end));
      });
    });
    json.list("incomplete", run.incomplete, [&](const Incomplete& each) {
      json.object([&] {
        json.text("archive", each.archive);
        json.text("why", each.why);
      });
    });
    json.text("times_of", times_of(run));
    if (run.without_room > 0) json.text("no_room", no_room(run));
    const std::vector<const Tag*> folded = folded_tags(run);
    if (folded.empty()) return;
    json.list("folded", folded, [&](const Tag* tag) {
      json.object([&] {
        json.text("name", tag->name);
        json.text("type", type_name(tag->type));
        json.number("calls", tag->calls);
      });
    });
  });
}

// The order of members is older than that of figures: write_tag() writes four parts, and extremes.
static_assert(index_of(Figure::Min) + 1 == index_of(Figure::P50) &&
              index_of(Figure::Max) + 1 == index_of(Figure::Busy));
void write_figures(JsonWriter& json, const Tag& tag, Figure first, Figure end) {
  for (std::size_t i = index_of(first); i < index_of(end); ++i)
    if (!kFigures[i].member.empty()) json.number(kFigures[i].member, kFigures[i].read(tag));
}

// The number, for comparisons; and whether the true extreme may lie further out.
void write_extreme(JsonWriter& json, const std::string& key,
                   const std::optional<Extreme>& extreme) {
  json.number(key, value_of(extreme));
  json.truth(key + "_is_exact", extreme && extreme->is_exact);
}

void write_slowest(JsonWriter& json, const Tag& tag) {
  json.key("slowest");
  if (!tag.slowest) return json.null();
  json.object([&] {
    json.key("at");
    tag.slowest->at ? json.text(rfc3339(*tag.slowest->at)) : json.null();
    json.truth("is_begin", tag.slowest->is_begin);
    json.number("within_s", tag.slowest->within_s);
    json.number(tag.slowest->is_p99 ? "p99" : "max", tag.slowest->value);
  });
}

// Totals are times in seconds, sums of values, calls, or what was added to a counter.
void write_imbalance(JsonWriter& json, const Imbalance& imbalance) {
  json.object([&] {
    json.text("name", imbalance.name);
    json.text("type", type_name(imbalance.type));
    json.text("label", imbalance.label);
    json.number("values", imbalance.count);
    json.number("min", imbalance.least);
    json.text("least", imbalance.least_value);
    json.number("mean", imbalance.mean);
    json.number("max", imbalance.greatest());
    json.number("ratio", imbalance.ratio());
    json.truth("uneven", is_uneven(imbalance));
    json.list("greatest", imbalance.values, [&](const LabelValue& each) {
      json.object([&] {
        json.text("value", each.value);
        json.number("total", each.total);
      });
    });
  });
}

void write_groups(JsonWriter& json, const char* key, const OfGroups& numbers, double unit = 1) {
  const auto number = [&](const char* group, RequestGroup of) {
    json.number(group, static_cast<double>(numbers.of(of)) / unit);
  };
  json.object(key, [&] {
    number("all", RequestGroup::All);
    number("slowest", RequestGroup::Slowest);
    number("failed", RequestGroup::Failed);
  });
}

void write_requests(JsonWriter& json, const Requests& requests) {
  constexpr double kNsPerS = 1e9;
  json.object([&] {
    json.text("tag", requests.tag);
    write_groups(json, "requests", requests.count);
    json.number("slowest_from_s", static_cast<double>(requests.slowest_from_ns) / kNsPerS);
    write_groups(json, "time_s", requests.time_ns, kNsPerS);
    json.number("lack_notes", requests.lack_notes);
    json.list("steps", requests.steps, [&](const RequestStep& step) {
      json.object([&] {
        json.key("step");
        step.name.empty() ? json.null() : json.text(step.name);
        write_groups(json, "self_s", step.self_ns, kNsPerS);
      });
    });
    json.list("common", requests.traits, [&](const RequestTrait& trait) {
      json.object([&] {
        json.text("key", trait.key);
        json.text("value", trait.value);
        write_groups(json, "requests", trait.requests);
      });
    });
  });
}

void write_died(JsonWriter& json, const Died& died) {
  const auto write = [&](const SpanEvent& span) {
    json.text("tag", span.tag);
    json.number("open_s", static_cast<double>(span.duration_ns) / 1e9);
    json.text("span", text_of(span.span));
  };
  json.object("died", [&] {
    json.number("requests", died.requests);
    json.list("longest", died.longest, [&](const OpenRequest& request) {
      const SpanEvent& span = request.outermost;
      const SpanEvent& last = request.last;
      json.object([&] {
        write(span);
        json.text("service", span.service.empty() ? span.process : span.service);
        json.number("pid", span.pid);
        json.text("host", span.host);
        json.text("trace", text_of(span.trace));
        if (last.span != span.span) json.object("last", [&] { write(last); });
      });
    });
  });
}

}  // namespace

void write_comparison(JsonWriter& json, const Comparison& comparison) {
  const Divisors& divisors = comparison.divisors;
  json.object([&] {
    json.object("divisors", [&] {
      json.key("tag");
      divisors.tag ? json.text(divisors.tag->second) : json.null();
      json.number("before", divisors.before);
      json.number("now", divisors.now);
    });
    json.text("judged_by", comparison.is_over_runs ? "runs" : "intervals");
    json.list("tags", comparison.tags,
              [&](const ComparedTag& tag) { json.object([&] { write_tag(json, tag); }); });
    json.list("only_before", comparison.only_before,
              [&](const Tag* tag) { write_values(json, *tag, divisors.before); });
    json.list("only_now", comparison.only_now,
              [&](const Tag* tag) { write_values(json, *tag, divisors.now); });
  });
}

void write_tag(JsonWriter& json, const Tag& tag, const Run& run) {
  json.object([&] {
    json.text("name", tag.name);
    json.text("type", type_name(tag.type));
    if (const auto parsed = parse_dimensions(tag.name))
      json.object("labels", [&] {
        for (const auto& [key, value] : parsed->labels) json.text(key, value);
      });
    json.text("unit", tag.unit);
    json.text("description", tag.description);
    json.list("hosts", tag.hosts, [&](std::uint16_t host) { json.text(run.hosts[host]); });
    write_figures(json, tag, Figure::Calls, Figure::Total);
    json.number("nonfinite", tag.nonfinite);
    json.truth("lacks_times", tag.lacks_times);
    write_figures(json, tag, Figure::Total, Figure::Min);
    write_figures(json, tag, Figure::Busy, Figure::InFlight);
    if (tag.in_flight) json.number("in_flight", *tag.in_flight);
    write_extreme(json, "min", tag.min);
    write_extreme(json, "max", tag.max);
    write_figures(json, tag, Figure::P50, Figure::Max);
    if (has_histogram(tag.type))
      json.text("percentiles_from", words_for(tag.percentile_source).name);
    write_figures(json, tag, Figure::Last, static_cast<Figure>(kFigureCount));
    write_slowest(json, tag);
  });
}

void write_spans(JsonWriter& json, const RecordedSpans& spans) {
  json.object([&] {
    json.number("traces", spans.traces);
    json.number("spans", spans.spans);
    json.number("missed", spans.missed);
    json.truth("has_gap", spans.has_gap);
    if (spans.slower_ns > 0) json.number("slower_s", static_cast<double>(spans.slower_ns) / 1e9);
    if ((spans.reasons & wire::kIfFailed) != 0) json.truth("only_failed", true);
    if ((spans.reasons & wire::kIfWanted) != 0) json.truth("only_wanted", true);
    if ((spans.reasons & wire::kIfDied) != 0) json.truth("only_died", true);
    if (spans.died.requests > 0) write_died(json, spans.died);
    json.number("not_in_requests", spans.not_in_requests);
    json.list("requests", spans.requests,
              [&](const Requests& each) { write_requests(json, each); });
    json.list("slowest", spans.slowest, [&](const SpanTrace& trace) { write_trace(json, trace); });
  });
}

void write_host_values(JsonWriter& json, std::span<const HostValue> values,
                       const std::function<void(const HostValue&)>& write_more) {
  if (values.empty()) return;
  json.list("host_metrics", values, [&](const HostValue& value) {
    json.object([&] {
      json.text("metric", value.metric);
      json.key("instance");
      value.instance ? json.text(*value.instance) : json.null();
      json.text("host", value.host);
      json.text("unit", value.unit);
      json.truth("is_rate", value.is_rate);
      json.number("min", value.least);
      json.number("mean", value.mean);
      json.number("max", value.greatest);
      json.number("known_s", value.known_s);
      write_more(value);
    });
  });
}

void write_totals(JsonWriter& json, const Totals& totals) {
  write_run(json, totals.run);
  json.list("tags", totals.tags, [&](const Tag& tag) { write_tag(json, tag, totals.run); });
  json.list("imbalances", totals.imbalances,
            [&](const Imbalance& each) { write_imbalance(json, each); });
}

std::string report_json(const Model& model, const std::vector<Condition::Finding>& findings,
                        const Comparison* comparison) {
  JsonWriter json;
  json.object([&] {
    json.number("format", kFormat);
    write_totals(json, model);
    json.key("base");
    model.base ? json.object([&] { write_totals(json, *model.base); }) : json.null();
    json.key("comparison");
    comparison == nullptr ? json.null() : write_comparison(json, *comparison);
    json.list("conditions", findings, [&](const Condition::Finding& finding) {
      json.object([&] {
        const bool is_true = finding.outcome == Condition::Outcome::True;
        json.text("outcome", is_true ? "broken" : word_for(finding.outcome));
        json.text("text", finding.line);
      });
    });
    json.key("spans");
    model.spans ? write_spans(json, *model.spans) : json.null();
    write_host_values(json, model.host_values, [](const HostValue&) {});
  });
  return json.document() + "\n";
}

}  // namespace pcp::trace::command
