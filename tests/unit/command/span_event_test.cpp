// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/pcp/span_event.hpp"

#include <cstring>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "collector/spans/span_text.hpp"
#include "metrics/event_array.hpp"
#include "support/span_reading.hpp"

namespace pcp::trace::command {
namespace {

agent::StoredSpan stored() {
  agent::StoredSpan span;
  span.kind = wire::SpanKind::Server;
  span.aborted = true;
  span.flags = 0x103;
  span.tid = 12;
  span.left_out = 3;
  span.begin_ns = 1'800'000'000'123'456'789;
  span.duration_ns = 987'654'321;
  span.trace_high = 0x0123456789abcdef;
  span.trace_low = 0xfedcba9876543210;
  span.span = 0xabc;
  span.parent = 0xdef;
  span.source =
      std::make_shared<const agent::SpanSource>(agent::SpanSource{11, "shop", "front", "10.0.0.1"});
  span.tag = std::make_shared<const std::string>("checkout");
  span.attributes = "route=/cart rows=12";
  span.links = "00000000000000010000000000000002-0000000000000003";
  span.reason = "the bank is away";
  return span;
}

// The events that the agent makes of them, and of two that were missed.
agent::EventArray packed(const std::vector<agent::StoredSpan>& spans) {
  return {10, agent::reading_of(spans, 2), 1u << 20, WallTime(std::chrono::seconds(1))};
}

TEST(Events, AreReadAsTheAgentPacksThem) {
  agent::StoredSpan observed;
  observed.kind = wire::SpanKind::Observe;
  observed.source = std::make_shared<const agent::SpanSource>();
  observed.tag = std::make_shared<const std::string>("rows");
  observed.begin_ns = 1'800'000'000'200'000'000;
  observed.span = 0xabc;
  observed.value = 2.5;
  const agent::EventArray array = packed({stored(), observed});
  const auto news = read_events(*array.get());
  ASSERT_TRUE(news);
  EXPECT_EQ(news->missed, 2U);
  ASSERT_EQ(news->spans.size(), 2U);
  const SpanEvent& rows = news->spans[0];
  EXPECT_EQ(std::tie(rows.kind, rows.tag, rows.value, rows.span),
            std::tuple(wire::SpanKind::Observe, "rows", 2.5, 0xabcU));
  const SpanEvent& span = news->spans[1];
  EXPECT_EQ(std::tie(span.kind, span.tag, span.aborted, span.reason),
            std::tuple(wire::SpanKind::Server, "checkout", true, "the bank is away"));
  EXPECT_EQ(span.trace, (wire::TraceId{0x0123456789abcdef, 0xfedcba9876543210}));
  EXPECT_EQ(std::tie(span.span, span.parent), std::tuple(0xabcU, 0xdefU));
  EXPECT_EQ(std::tie(span.begin_ns, span.duration_ns),
            std::tuple(1'800'000'000'123'456'789U, 987'654'321U));
  EXPECT_EQ(std::tie(span.pid, span.tid, span.flags, span.left_out),
            std::tuple(11U, 12U, 0x103U, 3U));
  EXPECT_EQ(std::tie(span.service, span.process, span.host),
            std::tuple("shop", "front", "10.0.0.1"));
  EXPECT_EQ(std::tie(span.attributes, span.links),
            std::tuple("route=/cart rows=12", "00000000000000010000000000000002-0000000000000003"));
}

TEST(Events, ThatAreCutAnywhereAreNoEvents) {
  const agent::EventArray array = packed({stored()});
  const auto whole = static_cast<std::size_t>(array.get()->vlen);
  for (std::size_t length = PM_VAL_HDR_SIZE; length < whole; ++length) {
    // Memory of just this size: a sanitizer finds reads beyond it.
    const auto memory = std::make_unique<char[]>(length);
    std::memcpy(memory.get(), array.get(), length);
    auto* const block = reinterpret_cast<pmValueBlock*>(memory.get());
    block->vlen = length & PM_VAL_VLEN_MAX;
    EXPECT_FALSE(read_events(*block)) << length;
  }
}

TEST(Events, AreNoOtherValues) {
  const agent::EventArray array = packed({stored()});
  array.get()->vtype = PM_TYPE_STRING;
  EXPECT_FALSE(read_events(*array.get()));
}

TEST(Attributes, AreWhatTheProgramHasNoted) {
  std::string text;
  agent::append_attribute(text, "route", "/a b=c\\");
  agent::append_attribute(text, "odd key=", "");
  agent::append_attribute(text, "rows", 12.5);
  agent::append_attribute(text, "zip", "0815");
  agent::append_attribute(text, "newline", "a\nb");
  agent::append_attribute(text, "its escape", "a\\x0ab");
  const std::vector<ShownAttribute> attributes = attributes_of(text);
  ASSERT_EQ(attributes.size(), 6U);
  EXPECT_EQ(attributes[0].key, "route");
  EXPECT_EQ(attributes[0].text, "/a b=c\\");
  EXPECT_FALSE(attributes[0].number);
  EXPECT_EQ(attributes[1].key, "odd key=");
  EXPECT_EQ(attributes[1].text, "");
  EXPECT_EQ(attributes[2].number, 12.5);
  EXPECT_EQ(attributes[3].text, "0815");
  EXPECT_FALSE(attributes[3].number);
  EXPECT_EQ(attributes[4].text, "a\nb");
  EXPECT_EQ(attributes[5].text, "a\\x0ab");
}

TEST(Attributes, AreShownToPeople) {
  std::string text;
  agent::append_attribute(text, "sql", "SELECT * FROM cart\nWHERE");
  agent::append_attribute(text, "escape", "a\\x0ab");
  agent::append_attribute(text, "status", "200");
  agent::append_attribute(text, "rows", 28.5);
  agent::append_attribute(text, "route", "/cart");
  agent::append_attribute(text, "empty", "");
  EXPECT_EQ(shown_attributes(text),
            R"(sql="SELECT * FROM cart\nWHERE" escape="a\\x0ab" status="200" rows=28.5 )"
            R"(route=/cart empty="")");
}

}  // namespace
}  // namespace pcp::trace::command
