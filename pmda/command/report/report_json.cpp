// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/report/report_json.hpp"

#include <array>

#include "command/json_writer.hpp"
#include "command/model/model_names.hpp"
#include "command/model/spans_json.hpp"

namespace pcp::trace::command {

namespace {

constexpr double kFormat = 1;  // version of the document; within one version nothing is removed

const char* word_for(Condition::Outcome outcome) {
  constexpr std::array kNames{"passed", "broken", "unknown"};
  return kNames[static_cast<std::size_t>(outcome)];
}

class Document {
 public:
  void run(const Run& run);
  void tags(const std::vector<Tag>& tags, const Run& run);
  void findings(const std::vector<Condition::Finding>& findings);

  JsonWriter json;

 private:
  void texts(const char* key, const std::vector<std::string>& texts);
  void gaps(const Run& run);
  void tag(const Tag& tag, const Run& run);
  void extreme(const std::string& key, const std::optional<Extreme>& extreme);
  void slowest(const Tag& tag);
};

void Document::texts(const char* key, const std::vector<std::string>& texts) {
  json.key(key);
  json.array([&] {
    for (const std::string& each : texts) json.text(each);
  });
}

void Document::run(const Run& run) {
  json.key("run");
  json.object([&] {
    texts("archives", run.archives);
    texts("hosts", run.hosts);
    json.key("command");
    run.command.empty() ? json.null() : json.text(run.command);
    json.text("begin", rfc3339(run.begin));
    json.text("end", rfc3339(run.end));
    json.number("elapsed_s", run.elapsed_s());
    json.number("samples", run.samples);
    json.key("interval_s");
    if (run.interval)
      json.number(std::chrono::duration<double>(*run.interval).count());
    else
      json.null();
    gaps(run);
    json.key("incomplete");
    json.array([&] {
      for (const Incomplete& each : run.incomplete)
        json.object([&] {
          json.text("archive", each.archive);
          json.text("why", each.why);
        });
    });
  });
}

void Document::gaps(const Run& run) {
  json.key("gaps");
  json.array([&] {
    for (const Gap& gap : run.gaps)
      json.object([&] {
        json.text("host", run.hosts[gap.host]);
        json.text("begin", rfc3339(gap.begin));
        json.text("end", rfc3339(gap.end));
      });
  });
}

void Document::tags(const std::vector<Tag>& tags, const Run& run) {
  json.key("tags");
  json.array([&] {
    for (const Tag& each : tags) tag(each, run);
  });
}

void Document::tag(const Tag& tag, const Run& run) {
  json.object([&] {
    json.text("name", tag.name);
    json.text("type", type_name(tag.type));
    json.text("unit", tag.unit);
    json.text("description", tag.description);
    std::vector<std::string> hosts;
    for (const std::uint16_t host : tag.hosts) hosts.push_back(run.hosts[host]);
    texts("hosts", hosts);
    json.number("count", tag.calls);
    json.number("rate", tag.rate);
    json.number("failed", tag.failed);
    json.number("vanished", tag.vanished);
    json.number("nonfinite", tag.nonfinite);
    json.number("sum", tag.sum);
    json.number("mean", tag.mean);
    json.number("concurrency", tag.concurrency);
    extreme("min", tag.min);
    extreme("max", tag.max);
    for (std::size_t i = 0; i < kPercentiles.size(); ++i)
      json.number(kPercentileNames[i], tag.percentiles[i]);
    if (has_histogram(tag.type)) json.text("percentiles_from", source_name(tag.percentile_source));
    json.number("last", tag.last);
    json.number("added", tag.counted);
    slowest(tag);
  });
}

// The number, for comparisons; and whether the true extreme may lie further out.
void Document::extreme(const std::string& key, const std::optional<Extreme>& extreme) {
  json.number(key, extreme ? std::optional(extreme->value) : std::nullopt);
  json.key(key + "_is_exact");
  json.truth(extreme && extreme->is_exact);
}

void Document::slowest(const Tag& tag) {
  json.key("slowest");
  if (!tag.slowest) return json.null();
  json.object([&] {
    json.key("at");
    tag.slowest->at ? json.text(rfc3339(*tag.slowest->at)) : json.null();
    json.number(tag.slowest->is_p99 ? "p99" : "max", tag.slowest->value);
  });
}

void Document::findings(const std::vector<Condition::Finding>& findings) {
  json.key("conditions");
  json.array([&] {
    for (const Condition::Finding& finding : findings)
      json.object([&] {
        json.text("outcome", word_for(finding.outcome));
        json.text("text", finding.line);
      });
  });
}

}  // namespace

std::string report_json(const Run& run, const std::vector<Tag>& tags, const Totals* base,
                        const std::vector<Condition::Finding>& findings,
                        const RecordedSpans* spans) {
  Document document;
  JsonWriter& json = document.json;
  json.object([&] {
    json.number("format", kFormat);
    document.run(run);
    document.tags(tags, run);
    json.key("base");
    if (base == nullptr)
      json.null();
    else
      json.object([&] {
        document.run(base->run);
        document.tags(base->tags, base->run);
      });
    document.findings(findings);
    json.key("spans");
    if (spans == nullptr)
      json.null();
    else
      write_spans(json, *spans);
  });
  return json.document() + "\n";
}

}  // namespace pcp::trace::command
