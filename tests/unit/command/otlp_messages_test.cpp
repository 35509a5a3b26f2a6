// SPDX-License-Identifier: LGPL-2.1-or-later
// Metrics and spans in OTLP's messages, as protoc reads them.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "command/otlp/metric_writer.hpp"
#include "command/otlp/span_writer.hpp"
#include "support/read_by_protoc.hpp"
#include "unit/command/archive_of_tags.hpp"
#include "unit/command/span_samples.hpp"
#include "unit/command/text.hpp"

namespace pcp::trace::command::otlp {
namespace {

std::string text_of(const std::vector<Piece>& pieces) {
  std::string bytes;
  for (const Piece& piece : pieces) bytes += piece.bytes;
  return read_by_protoc("otlp.proto", "otlp.MetricsRequest", bytes);
}

std::string ns(double second) { return std::to_string(moment(second).time_since_epoch().count()); }

std::string attribute(const std::string& key, const std::string& value) {
  return "attributes { key: \"" + key + "\" value { string_value: \"" + value + "\" } } ";
}

// An agent's values at one time after the other, as an archive has them.
class MetricsOfArchives : public OfArchives {
 protected:
  // Gives the requests' texts, by sample.
  std::vector<std::string> written(MetricExemplars* exemplars = nullptr) {
    finish_all();
    Result<ArchiveSource> source = ArchiveSource::open(path());
    EXPECT_TRUE(source) << source.error().message;
    MetricWriter writer(
        source->host(), [&](pmInDom domain) { return source->instances(domain); }, exemplars);
    std::vector<std::string> texts;
    while (const auto sample = *source->next()) texts.push_back(text_of(writer.write(*sample)));
    return texts;
  }
};

TEST_F(MetricsOfArchives, AreSumsSinceTheAgentsStart) {
  make().sample(1,
                {{kStarted, kSecond0 + 0.5}, {kCalls, {{"order{route=/a%3Bb;service=web}", 7.0}}}});
  EXPECT_EQ(written().at(0),
            "resource_metrics { resource { " + attribute("host.name", "saturn") +
                attribute("service.instance.id", "saturn") + attribute("service.name", "web") +
                "} scope_metrics { scope { name: \"pcp-trace\" version: \"" PCP_TRACE_VERSION
                "\" } metrics { name: \"trace.transact.count\" description: \"transactions that "
                "ended\" unit: \"{transaction}\" sum { data_points { start_time_unix_nano: " +
                ns(0.5) + " time_unix_nano: " + ns(1) + " as_double: 7 " +
                attribute("route", "/a;b") + attribute("tag", "order") +
                attribute("outcome", "completed") +
                "} aggregation_temporality: 2 is_monotonic: true } } } } ");
}

TEST_F(MetricsOfArchives, AProgramsLabelsDoNotReplaceOurs) {
  make().sample(1, {{kCalls, {{"a{outcome=good}", 1.0}}}});
  const std::string text = written().at(0);
  EXPECT_TRUE(has(text, attribute("label.outcome", "good")));
  EXPECT_TRUE(has(text, attribute("outcome", "completed")));
}

TEST_F(MetricsOfArchives, BeginAnewWithTheAgent) {
  make()
      .sample(1, {{kStarted, kSecond0}, {kReset, kSecond0}, {kCalls, 7}})
      .sample(2, {{kStarted, kSecond0}, {kReset, kSecond0 + 1.5}, {kCalls, 8}})
      .sample(9, {{kStarted, kSecond0 + 5}, {kReset, kSecond0 + 5}, {kCalls, 9}});
  const std::vector<std::string> texts = written();
  for (const auto& [sample, start] : {std::pair(0u, 0.0), {1u, 1.5}, {2u, 5.0}})
    EXPECT_TRUE(has(texts.at(sample), "start_time_unix_nano: " + ns(start) + " "));
}

// An agent that does not tell when it started, as PCP's own.
TEST_F(MetricsOfArchives, BeginAnewWhereTheyFall) {
  make("run", {.metrics = {kCalls}}).calls(1, 7).calls(2, 8).calls(3, 2).calls(4, 3);
  const std::vector<std::string> texts = written();
  for (const auto& [sample, start] : {std::pair(0u, 1.0), {1u, 1.0}, {2u, 2.0}, {3u, 2.0}})
    EXPECT_TRUE(has(texts.at(sample), "start_time_unix_nano: " + ns(start) + " "));
}

TEST_F(MetricsOfArchives, HaveDistributionsWithTheLongestTransaction) {
  make().sample(1, {{kShape, {{"a", shape(0.25, histogram_of({0.5, 0.5, 3}))}}},
                    {kSeenShape, {{"b", shape(0.25, histogram_of({-2}))}}}});
  MetricExemplars exemplars;
  exemplars.note(trace_of({span_of("a", 1, 0, 0, 500), span_of("a", 2, 0, 0, 3000)}));
  const std::string text = written(&exemplars).at(0);
  EXPECT_TRUE(
      has(text, "exponential_histogram { data_points { " + attribute("tag", "a") +
                    attribute("outcome", "completed") + "start_time_unix_nano: " + ns(0.25) +
                    " time_unix_nano: " + ns(1) +
                    " count: 3 sum: 4.046875 scale: 5 positive { offset: -32 bucket_counts: 2 "));
  EXPECT_TRUE(has(text, "exemplars { time_unix_nano: 1800000003000000000 as_double: 3 span_id: "));
  EXPECT_TRUE(has(text, "name: \"trace.observe.distribution\" "));
  EXPECT_TRUE(has(text, "count: 1 sum: -2.03125 scale: 5 negative { offset: 32 "));
}

TEST_F(MetricsOfArchives, HaveTheUnitsOfPrograms) {
  make()
      .sample(0, {{kSeen, 0}})
      .describe(TraceType::Observe, 0, "a", "EUR")
      .sample(1, {{kSeenLast, 2.5}, {kSeenSum, -1}});
  const std::string text = written().at(1);
  EXPECT_TRUE(has(
      text, "unit: \"{EUR}\" gauge { data_points { time_unix_nano: " + ns(1) + " as_double: 2.5 "));
  EXPECT_TRUE(has(text, "as_double: -1 " + attribute("tag", "a") +
                            "} aggregation_temporality: 2 } }"));  // not monotonic
}

TEST(OtlpSpans, AreErrorsIfTheirProcessDied) {
  SpanEvent span = span_of("a", 2, 0);
  span.flags = wire::kWasOpen;
  const std::string text =
      read_by_protoc("otlp.proto", "otlp.SpansRequest", spans_of(trace_of({span})).bytes);
  EXPECT_TRUE(has(text, attribute("error.type", "process_died")));
  EXPECT_TRUE(has(text, "status { message: \"its process died while it was open\" code: 2 }"))
      << text;
}

TEST(OtlpSpans, HaveAllThatASpanHas) {
  SpanEvent span = span_of("order{route=/cart}", 2, 1, 3, 4);
  span.trace = {0x0102, 0x0304};
  span.kind = wire::SpanKind::Server;
  span.process = "shopd";
  span.flags = 1 | wire::kParentIsElsewhere;
  span.aborted = true;
  span.reason = "sold\\x1bout";
  span.left_out = 2;
  span.tid = 12;
  span.attributes = "rows=28.5 sql=a\\x0ab";
  span.links = std::string(31, '0') + "5-" + std::string(15, '0') + "6";
  SpanEvent lost = point_of("lost", 99, 5);
  SpanEvent sale = point_of("sale", 2, 5);
  sale.kind = wire::SpanKind::Add;
  sale.value = 1.5;
  SpanTrace trace = trace_of({span, sale, lost});
  trace.spans_left_out = 3;
  const Piece piece = spans_of(trace);
  EXPECT_EQ(piece.items, 1u);
  EXPECT_EQ(piece.left_out, 4u);
  const std::string zeros = "\\000\\000\\000\\000\\000\\000";
  EXPECT_EQ(
      read_by_protoc("otlp.proto", "otlp.SpansRequest", piece.bytes),
      "resource_spans { resource { " + attribute("host.name", "saturn") +
          attribute("process.executable.name", "shopd") +
          "attributes { key: \"process.pid\" value { int_value: 11 } } " +
          attribute("service.instance.id", "saturn:11") + attribute("service.name", "shop") +
          "} scope_spans { scope { name: \"pcp-trace\" version: \"" PCP_TRACE_VERSION
          "\" } spans { trace_id: \"" +
          zeros + "\\001\\002" + zeros + "\\003\\004\" span_id: \"" + zeros +
          "\\000\\002\" parent_span_id: \"" + zeros +
          "\\000\\001\" name: \"order\" kind: 2 start_time_unix_nano: 1800000000003000000 "
          "end_time_unix_nano: 1800000000007000000 " +
          attribute("route", "/cart") +
          "attributes { key: \"rows\" value { double_value: 28.5 } } " + attribute("sql", "a\\nb") +
          "attributes { key: \"thread.id\" value { int_value: 12 } } dropped_attributes_count: 2 "
          "events { time_unix_nano: 1800000000005000000 name: \"sale\" attributes { key: \"added\" "
          "value { double_value: 1.5 } } } links { trace_id: \"" +
          zeros + "\\000\\000" + zeros + "\\000\\005\" span_id: \"" + zeros +
          "\\000\\006\" } status { message: \"sold\\\\x1bout\" code: 2 } flags: 769 } } } ");
}

TEST(OtlpSpans, AreWithTheirProcess) {
  SpanEvent other = span_of("reserve", 2, 1);
  other.pid = 12;
  other.kind = wire::SpanKind::Client;
  const std::string text = read_by_protoc(
      "otlp.proto", "otlp.SpansRequest", spans_of(trace_of({span_of("order", 1, 0), other})).bytes);
  EXPECT_TRUE(has(text, "value { int_value: 11 } }"));
  EXPECT_TRUE(has(text, "name: \"order\" kind: 1 "));
  EXPECT_TRUE(has(text, "value { int_value: 12 } }"));
  EXPECT_TRUE(has(text, "name: \"reserve\" kind: 3 "));
}

}  // namespace
}  // namespace pcp::trace::command::otlp
