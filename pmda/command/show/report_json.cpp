// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/show/report_json.hpp"

#include <array>

#include "command/show/json_writer.hpp"
#include "command/show/model_json.hpp"

namespace pcp::trace::command {

namespace {

constexpr double kFormat = 1;  // version of the document; within one version nothing is removed

const char* word_for(Condition::Outcome outcome) {
  constexpr std::array kNames{"passed", "broken", "unknown"};
  return kNames[static_cast<std::size_t>(outcome)];
}

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
  });
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
    json.number(tag.slowest->is_p99 ? "p99" : "max", tag.slowest->value);
  });
}

void write_tag(JsonWriter& json, const Tag& tag, const Run& run) {
  json.object([&] {
    json.text("name", tag.name);
    json.text("type", type_name(tag.type));
    json.text("unit", tag.unit);
    json.text("description", tag.description);
    json.list("hosts", tag.hosts, [&](std::uint16_t host) { json.text(run.hosts[host]); });
    json.number("count", tag.calls);
    json.number("rate", tag.rate);
    json.number("failed", tag.failed);
    json.number("vanished", tag.vanished);
    json.number("nonfinite", tag.nonfinite);
    json.number("sum", tag.sum);
    json.number("mean", tag.mean);
    json.number("concurrency", tag.concurrency);
    write_extreme(json, "min", tag.min);
    write_extreme(json, "max", tag.max);
    for (std::size_t i = 0; i < kPercentiles.size(); ++i)
      json.number(kPercentileNames[i], tag.percentiles[i]);
    if (has_histogram(tag.type))
      json.text("percentiles_from", words_for(tag.percentile_source).name);
    json.number("last", tag.last);
    json.number("added", tag.counted);
    write_slowest(json, tag);
  });
}

void write_totals(JsonWriter& json, const Totals& totals) {
  write_run(json, totals.run);
  json.list("tags", totals.tags, [&](const Tag& tag) { write_tag(json, tag, totals.run); });
}

}  // namespace

std::string report_json(const Model& model, const std::vector<Condition::Finding>& findings) {
  JsonWriter json;
  json.object([&] {
    json.number("format", kFormat);
    write_totals(json, model);
    json.key("base");
    model.base ? json.object([&] { write_totals(json, *model.base); }) : json.null();
    json.list("conditions", findings, [&](const Condition::Finding& finding) {
      json.object([&] {
        json.text("outcome", word_for(finding.outcome));
        json.text("text", finding.line);
      });
    });
    json.key("spans");
    model.spans ? write_spans(json, *model.spans) : json.null();
  });
  return json.document() + "\n";
}

}  // namespace pcp::trace::command
