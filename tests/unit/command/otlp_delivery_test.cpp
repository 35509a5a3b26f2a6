// SPDX-License-Identifier: LGPL-2.1-or-later
// Addresses of servers, and what their answers mean.
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "command/otlp/endpoint.hpp"
#include "command/otlp/piece_queue.hpp"
#include "command/otlp/ucum.hpp"
#include "command/otlp/verdict.hpp"
#include "unit/command/text.hpp"

namespace pcp::trace::command::otlp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Variables {
 public:
  explicit Variables(std::map<std::string, std::string> all) : all_(std::move(all)) {}
  const char* operator()(const char* name) const {
    const auto found = all_.find(std::string("OTEL_EXPORTER_OTLP_").append(name + 19));
    return found == all_.end() || name != found->first ? nullptr : found->second.c_str();
  }

 private:
  std::map<std::string, std::string> all_;
};

Variables with(const std::map<std::string, std::string>& rest) {
  std::map<std::string, std::string> all;
  for (const auto& [name, value] : rest) all["OTEL_EXPORTER_OTLP_" + name] = value;
  return Variables(all);
}

std::string url_of(Signal signal, const std::optional<std::string>& base,
                   const Environment& environment = with({})) {
  const Result<Endpoint> made = endpoint_for(signal, base, environment);
  return made ? made->url : made.error().message;
}

TEST(Endpoint, AddsTheSignalsPathToABase) {
  EXPECT_EQ(url_of(Signal::Metrics, "http://a:4318"), "http://a:4318/v1/metrics");
  EXPECT_EQ(url_of(Signal::Spans, "https://a/api/otlp/"), "https://a/api/otlp/v1/traces");
  EXPECT_EQ(url_of(Signal::Spans, {}, with({{"ENDPOINT", "http://b:1"}})), "http://b:1/v1/traces");
}

TEST(Endpoint, OfASignalItselfIsWhole) {
  const auto variables = with({{"ENDPOINT", "http://b"}, {"TRACES_ENDPOINT", "http://c/in"}});
  EXPECT_EQ(url_of(Signal::Spans, {}, variables), "http://c/in");
  EXPECT_EQ(url_of(Signal::Metrics, {}, variables), "http://b/v1/metrics");
  EXPECT_EQ(url_of(Signal::Spans, "http://a", variables), "http://a/v1/traces");
}

TEST(Endpoint, ThatIsNoAddressIsRefusedByName) {
  const std::string wanted =
      "is no address; wanted is http://HOST:PORT or https://HOST:PORT, such as "
      "http://localhost:4318";
  EXPECT_EQ(url_of(Signal::Spans, "a:4318"), "--otlp: \"a:4318\" " + wanted);
  EXPECT_EQ(url_of(Signal::Spans, "http://"), "--otlp: \"http://\" " + wanted);
  EXPECT_EQ(url_of(Signal::Spans, {}, with({{"ENDPOINT", "file:///etc"}})),
            "OTEL_EXPORTER_OTLP_ENDPOINT: \"file:///etc\" " + wanted);
  EXPECT_TRUE(has(url_of(Signal::Spans, "http://a/v1/traces"), "leave out /v1/traces"));
  EXPECT_TRUE(has(url_of(Signal::Spans, "http://a/?x"), "has a ? or #"));
  EXPECT_TRUE(has(url_of(Signal::Spans, {}), "name the server"));
  EXPECT_TRUE(has(url_of(Signal::Spans, {}, with({{"ENDPOINT", "http://a"}, {"PROTOCOL", "grpc"}})),
                  "OTEL_EXPORTER_OTLP_PROTOCOL: pcp-trace speaks http/protobuf only"));
}

TEST(Endpoint, TakesTheRestFromVariables) {
  const auto variables = with({{"HEADERS", "api-key=a%20b, other = c"},
                               {"METRICS_TIMEOUT", "250"},
                               {"TIMEOUT", "9"},
                               {"COMPRESSION", "none"},
                               {"CERTIFICATE", "/ca"},
                               {"CLIENT_CERTIFICATE", "/cert"},
                               {"CLIENT_KEY", "/key"}});
  const Result<Endpoint> made = endpoint_for(Signal::Metrics, "http://a", variables);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->headers, (std::vector<std::string>{"api-key: a b", "other: c"}));
  EXPECT_EQ(made->timeout, milliseconds(250));
  EXPECT_FALSE(made->is_compressed);
  EXPECT_EQ(made->ca_file + made->certificate + made->key, "/ca/cert/key");
}

TEST(Endpoint, RefusesVariablesThatMakeNoSense) {
  for (const auto& [name, value] : {std::pair("HEADERS", "a=b%0d%0aEvil: 1"),
                                    {"HEADERS", "a"},
                                    {"HEADERS", "a:b=c"},
                                    {"TIMEOUT", "10s"},
                                    {"TIMEOUT", "0"},
                                    {"COMPRESSION", "brotli"}})
    EXPECT_TRUE(begins(url_of(Signal::Spans, "http://a", with({{name, value}})),
                       std::string("OTEL_EXPORTER_OTLP_") + name + ": "));
}

TEST(Endpoint, IsShownWithoutItsPassword) {
  EXPECT_EQ(without_password("https://me:secret@a/b@c"), "https://a/b@c");
  EXPECT_EQ(without_password("http://a/b@c"), "http://a/b@c");
}

TEST(Verdict, IsToTryAgainOnlyWhereOtlpSaysSo) {
  for (const long status : {429L, 502L, 503L, 504L})
    EXPECT_EQ(verdict_of({status, "", {}, ""}).fate, Fate::Retry) << status;
  for (const long status : {301L, 400L, 401L, 404L, 413L, 500L, 501L})
    EXPECT_EQ(verdict_of({status, "", {}, ""}).fate, Fate::Refused) << status;
  const Verdict unanswered = verdict_of({0, "", {}, "Connection refused"});
  EXPECT_EQ(unanswered.fate, Fate::Retry);
  EXPECT_EQ(unanswered.why, "Connection refused");
}

TEST(Verdict, ReadsWhatAServerRejects) {
  const Verdict partly = verdict_of({200, "\x0a\x09\x08\x03\x12\x05too b", {}, ""});
  EXPECT_EQ(partly.fate, Fate::Accepted);
  EXPECT_EQ(partly.rejected, 3u);
  EXPECT_EQ(partly.why, "too b");
}

// Such a request is never sent again, whatever the rest of the answer is.
TEST(Verdict, OfAnAcceptedRequestNeedsNoBody) {
  for (const char* const body : {"", "\x0a\xff", "\x0a\x02\x08", "<html>", "\x0a\x0b\x08\xff\xff"})
    EXPECT_EQ(verdict_of({200, body, {}, ""}).fate, Fate::Accepted) << body;
  EXPECT_EQ(verdict_of({202, "", {}, ""}).fate, Fate::Accepted);
}

TEST(Verdict, HasTheServersReason) {
  EXPECT_EQ(verdict_of({400,
                        "\x12\x03"
                        "bad",
                        {},
                        ""})
                .why,
            "HTTP status 400: bad");
  EXPECT_EQ(verdict_of({404, "404 page not found\r\nmore", {}, ""}).why,
            "HTTP status 404: 404 page not found");
  EXPECT_EQ(verdict_of({500, "", {}, ""}).why, "HTTP status 500");
  EXPECT_LE(verdict_of({500, std::string(5000, 'x'), {}, ""}).why.size(), 200u);
}

TEST(PieceQueue, DropsTheOldestPiecesBeyondItsLimitAndCountsTheirItems) {
  PieceQueue queue;
  std::uint64_t dropped = 0;
  std::uint64_t taken = 0;
  for (unsigned number = 1; number <= 100; ++number) {
    dropped += queue.push({std::string(1u << 20, 'x'), number});
    EXPECT_LE(queue.bytes(), 64u << 20);
  }
  EXPECT_GT(queue.bytes(), 62u << 20);
  EXPECT_EQ(dropped, 37u * 38u / 2);  // 63 of them and their strings' ends have room
  EXPECT_EQ(queue.take_request().items, 38u + 39u);
  while (!queue.is_empty()) taken += queue.take_request().items;
  EXPECT_EQ(dropped + 38u + 39u + taken, 100u * 101u / 2);
  EXPECT_EQ(queue.bytes(), 0u);
}

// It is sent, whatever the server says of it.
TEST(PieceQueue, TakesAPieceThatAloneIsBeyondALimit) {
  PieceQueue queue;
  EXPECT_EQ(queue.push({"", 1}) + queue.push({std::string(65u << 20, 'x'), 2}), 1u);
  EXPECT_EQ(queue.take_request().items, 2u);
}

TEST(Pause, GrowsToALimitAndDiffers) {
  EXPECT_EQ(pause_after(1, {}, 0), milliseconds(500));
  EXPECT_EQ(pause_after(1, {}, 1), seconds(1));
  EXPECT_EQ(pause_after(4, {}, 1), seconds(8));
  EXPECT_EQ(pause_after(1000, {}, 1), seconds(30));
}

TEST(Pause, IsAtLeastWhatTheServerWants) {
  EXPECT_EQ(pause_after(1, seconds(7), 0), seconds(7));
  EXPECT_EQ(pause_after(9, seconds(7), 1), seconds(8));
}

TEST(Ucum, HasTheWordsOfProgramsAndOfPcp) {
  EXPECT_EQ(ucum_of("bytes"), "By");
  EXPECT_EQ(ucum_of("Kbyte"), "KiBy");
  EXPECT_EQ(ucum_of("millisec"), "ms");
  EXPECT_EQ(ucum_of("none"), "");
  EXPECT_EQ(ucum_of("Cel"), "Cel");
  EXPECT_EQ(ucum_of("EUR"), "{EUR}");
  EXPECT_EQ(ucum_of("a {b}\n"), "{a__b__}");
}

}  // namespace
}  // namespace pcp::trace::command::otlp
