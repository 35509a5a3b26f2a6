// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/pcp/span_event.hpp"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "collector/spans/span_text.hpp"
#include "metrics/event_array.hpp"

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
  agent::SpanReading reading;
  reading.is_all = true;
  std::uint64_t number = 0;
  for (const agent::StoredSpan& span : spans)
    reading.entries.push_back({number, number++, std::make_shared<const agent::StoredSpan>(span)});
  reading.to.next_number = number;
  reading.to.missed = 2;
  return {10, reading, 1u << 20, WallTime(std::chrono::seconds(1))};
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
  EXPECT_EQ(news->spans[0].kind, wire::SpanKind::Observe);
  EXPECT_EQ(news->spans[0].tag, "rows");
  EXPECT_EQ(news->spans[0].value, 2.5);
  EXPECT_EQ(news->spans[0].span, 0xabcU);
  const SpanEvent& span = news->spans[1];
  EXPECT_EQ(span.kind, wire::SpanKind::Server);
  EXPECT_TRUE(span.aborted);
  EXPECT_EQ(span.trace, (wire::TraceId{0x0123456789abcdef, 0xfedcba9876543210}));
  EXPECT_EQ(span.span, 0xabcU);
  EXPECT_EQ(span.parent, 0xdefU);
  EXPECT_EQ(span.begin_ns, 1'800'000'000'123'456'789U);
  EXPECT_EQ(span.duration_ns, 987'654'321U);
  EXPECT_EQ(span.pid, 11U);
  EXPECT_EQ(span.tid, 12U);
  EXPECT_EQ(span.flags, 0x103U);
  EXPECT_EQ(span.left_out, 3U);
  EXPECT_EQ(span.tag, "checkout");
  EXPECT_EQ(span.service, "shop");
  EXPECT_EQ(span.process, "front");
  EXPECT_EQ(span.host, "10.0.0.1");
  EXPECT_EQ(span.reason, "the bank is away");
  EXPECT_EQ(span.attributes, "route=/cart rows=12");
  EXPECT_EQ(span.links, "00000000000000010000000000000002-0000000000000003");
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
  const std::vector<ShownAttribute> attributes = attributes_of(text);
  ASSERT_EQ(attributes.size(), 4U);
  EXPECT_EQ(attributes[0].key, "route");
  EXPECT_EQ(attributes[0].text, "/a b=c\\");
  EXPECT_FALSE(attributes[0].number);
  EXPECT_EQ(attributes[1].key, "odd key=");
  EXPECT_EQ(attributes[1].text, "");
  EXPECT_EQ(attributes[2].number, 12.5);
  EXPECT_EQ(attributes[3].text, "0815");
  EXPECT_FALSE(attributes[3].number);
}

TEST(Attributes, OfANewlineAndOfItsEscapeDiffer) {
  std::string text;
  agent::append_attribute(text, "one", "a\nb");
  agent::append_attribute(text, "other", "a\\x0ab");
  const std::vector<ShownAttribute> attributes = attributes_of(text);
  EXPECT_EQ(attributes[0].text, "a\nb");
  EXPECT_EQ(attributes[1].text, "a\\x0ab");
  EXPECT_EQ(shown_attributes(text), R"(one="a\nb" other="a\\x0ab")");
}

TEST(Attributes, AreShownToPeople) {
  std::string text;
  agent::append_attribute(text, "sql", "SELECT * FROM cart\nWHERE");
  agent::append_attribute(text, "status", "200");
  agent::append_attribute(text, "rows", 28.5);
  agent::append_attribute(text, "route", "/cart");
  agent::append_attribute(text, "empty", "");
  EXPECT_EQ(shown_attributes(text),
            R"(sql="SELECT * FROM cart\nWHERE" status="200" rows=28.5 route=/cart empty="")");
}

}  // namespace
}  // namespace pcp::trace::command
