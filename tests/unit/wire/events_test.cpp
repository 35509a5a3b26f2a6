// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wire/events.hpp"

#include <functional>
#include <limits>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>
#include <protozero/pbf_writer.hpp>

#include "unit/wire/hex.hpp"
#include "unit/wire/samples.hpp"

namespace pcp::trace::wire {
namespace {

std::string body_of(const std::vector<Span>& spans) {
  std::string body;
  for (const Span& span : spans) append_span(body, span);
  return body;
}

// The spans and counts that a decoder gets from these.
struct Arrival {
  std::string pdu;
  Events events;
  bool is_taken = false;

  explicit Arrival(const std::string& body, const std::vector<CaptureCount>& counts = {})
      : pdu(pdu_of(append_events, 1, 1, counts, {}, body)) {
    is_taken = decode_events(payload_of(pdu), events);
  }
  explicit Arrival(const std::vector<Span>& spans, const std::vector<CaptureCount>& counts = {})
      : Arrival(body_of(spans), counts) {}
};

bool is_taken(const Span& span) { return Arrival({span}).is_taken; }

// Writes a point that append_span does not allow.
bool is_taken_with(const std::function<void(protozero::pbf_writer&)>& write) {
  std::string body;
  {
    protozero::pbf_writer events(body);
    protozero::pbf_writer span(events, 3);
    span.add_uint32(2, static_cast<std::uint32_t>(SpanKind::Point));
    span.add_uint32(11, 1);
    write(span);
  }
  return Arrival(body).is_taken;
}

template <typename Element>
std::vector<Element> list(std::span<const Element> elements) {
  return {elements.begin(), elements.end()};
}

TEST(Events, LeaveNothingOfTheOnesBeforeButTheirMemory) {
  Events events;
  const std::string full = events_pdu();
  ASSERT_TRUE(decode_events(payload_of(full), events));
  const auto capacities = [&] {
    return std::vector<std::size_t>{events.spans.capacity(), events.counts.capacity(),
                                    events.attributes.capacity(), events.links.capacity()};
  };
  const auto before = capacities();
  EXPECT_FALSE(decode_events("", events));
  const std::string empty = pdu_of(append_events, 6, 3, {}, {}, {});
  ASSERT_TRUE(decode_events(payload_of(empty), events));
  EXPECT_EQ(pdu_of(events), empty);
  EXPECT_TRUE(events.attributes.empty());
  EXPECT_TRUE(events.links.empty());
  EXPECT_EQ(capacities(), before);
}

// Each span keeps its own, however many come before them.
TEST(Events, GiveEachSpanItsAttributesAndLinks) {
  std::vector<std::vector<SpanAttribute>> attributes(50);
  std::vector<std::vector<SpanLink>> links(50);
  std::vector<Span> spans;
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    for (std::size_t j = 0; j < i % 4; ++j)
      attributes[i].push_back({"key", {}, static_cast<double>(i + j)});
    for (std::size_t j = 0; j < i % 3; ++j) links[i].push_back({kTrace, i + j + 1});
    spans.push_back(sample_event());
    spans.back().attributes = attributes[i];
    spans.back().links = links[i];
  }
  Arrival arrival(spans);
  ASSERT_TRUE(arrival.is_taken);
  const Events moved = std::move(arrival.events);
  EXPECT_EQ(to_hex(body_of(moved.spans)), to_hex(body_of(spans)));
}

TEST(Events, NeedASequenceAndAControl) {
  Events events;
  EXPECT_FALSE(decode_events(payload_of(pdu_of(append_events, 1, 0, {}, {}, {})), events));
  EXPECT_FALSE(decode_events(payload_of(pdu_of(append_events, 0, 1, {}, {}, {})), events));
}

TEST(Events, AreRefusedBeyond64KiB) {
  Events events;
  const auto pdu_with_padding = [](std::size_t padding) {
    std::string body;
    protozero::pbf_writer(body).add_bytes(1000, std::string(padding, 'x'));
    return pdu_of(append_events, 1, 1, {}, {}, body);
  };
  std::size_t padding = kMaxEventsPduBytes;
  while (pdu_with_padding(padding).size() > kMaxEventsPduBytes) --padding;
  const std::string largest = pdu_with_padding(padding);
  EXPECT_EQ(largest.size(), kMaxEventsPduBytes);
  EXPECT_TRUE(decode_events(payload_of(largest), events));
  const std::string larger = pdu_with_padding(padding + 1);
  EXPECT_FALSE(decode_events(payload_of(larger), events));
}

TEST(Events, AddNoMoreToTheirBodyThanPromised) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const std::vector<CaptureCount> counts(kMaxCaptures,
                                         {kMost, kMost, kMost, kMost, kMost, kMost, kAllIds});
  const std::string pdu = pdu_of(append_events, kMost, kMost, counts, {}, {});
  EXPECT_LE(pdu.size(), kEventsOverheadBytes + kMaxCaptures * kMaxCaptureCountBytes);
}

TEST(Events, OfTinyPartsAreTakenAtOnce) {
  std::string body;
  const Span least{.kind = SpanKind::Point, .capture_bits = 1};
  while (body.size() < kMaxEventsPduBytes - kEventsOverheadBytes) append_span(body, least);
  const Arrival arrival(body);
  EXPECT_TRUE(arrival.is_taken);
  EXPECT_LT(arrival.events.spans.capacity() * sizeof(Span), 64 * arrival.pdu.size());
}

TEST(Span, OfATransactionNeedsItsIdsAndAnEventNeedsNone) {
  for (const SpanKind kind : {SpanKind::Internal, SpanKind::Server, SpanKind::Client}) {
    const auto takes = [&](TraceId trace, std::uint64_t span) {
      return is_taken({.kind = kind, .trace = trace, .span = span, .capture_bits = 1});
    };
    EXPECT_TRUE(takes({0, 1}, 1));
    EXPECT_TRUE(takes({1, 0}, 1));
    EXPECT_FALSE(takes({}, 1));
    EXPECT_FALSE(takes({0, 1}, 0));
  }
  for (const SpanKind kind : {SpanKind::Point, SpanKind::Observe, SpanKind::Counter, SpanKind::Add})
    EXPECT_TRUE(is_taken({.kind = kind, .capture_bits = 1}));
}

TEST(Span, OfAnUnknownKindIsRefused) {
  EXPECT_FALSE(is_taken({.kind = SpanKind{7}, .capture_bits = 1}));
  EXPECT_FALSE(is_taken_with([](protozero::pbf_writer& span) {
    span.add_uint64(2, (1ull << 32) + 3);  // its low 32 bits are a known kind
  }));
}

TEST(Span, ThatNobodyHasAskedForIsRefused) {
  for (Span span : {sample_span(), sample_event()}) {
    span.capture_bits = 1u << 31;
    EXPECT_TRUE(is_taken(span));
    span.capture_bits = 0;
    EXPECT_FALSE(is_taken(span));
  }
}

TEST(Span, EndsBeforeTheYear2262) {
  const auto takes = [](std::uint64_t begin_ns, std::uint64_t duration_ns) {
    Span span = sample_span();
    span.begin_ns = begin_ns;
    span.duration_ns = duration_ns;
    return is_taken(span);
  };
  EXPECT_TRUE(takes(kLatestEndNs - 5, 5));
  EXPECT_FALSE(takes(kLatestEndNs - 5, 6));
  EXPECT_FALSE(takes(kLatestEndNs + 1, 0));
  EXPECT_FALSE(takes(5, ~std::uint64_t{0}));  // the sum overflows to 4
}

TEST(Span, MayHaveAnyValue) {
  Span event = sample_event();
  event.value = std::numeric_limits<double>::quiet_NaN();
  const Arrival arrival({event});
  ASSERT_TRUE(arrival.is_taken);
  EXPECT_NE(arrival.events.spans[0].value, arrival.events.spans[0].value);
}

TEST(Span, IsRefusedWithAttributesBeyondTheirLimits) {
  const auto takes_attributes = [](int count, std::size_t key, std::size_t text) {
    return is_taken_with([&](protozero::pbf_writer& span) {
      for (int i = 0; i < count; ++i) {
        protozero::pbf_writer attribute(span, 14);
        attribute.add_bytes(1, std::string(key, 'k'));
        attribute.add_bytes(2, std::string(text, 't'));
      }
    });
  };
  EXPECT_TRUE(takes_attributes(32, 1, 0));
  EXPECT_FALSE(takes_attributes(33, 1, 0));
  EXPECT_TRUE(takes_attributes(1, 128, 4096));
  EXPECT_FALSE(takes_attributes(1, 129, 0));
  EXPECT_FALSE(takes_attributes(1, 0, 5));
  EXPECT_FALSE(takes_attributes(1, 1, 4097));
}

TEST(Span, IsRefusedWithLinksOrAReasonBeyondTheirLimits) {
  const auto takes_links = [](int count, std::uint64_t trace, std::uint64_t id) {
    return is_taken_with([&](protozero::pbf_writer& span) {
      for (int i = 0; i < count; ++i) {
        protozero::pbf_writer link(span, 15);
        link.add_fixed64(2, trace);
        link.add_fixed64(3, id);
      }
    });
  };
  EXPECT_TRUE(takes_links(32, 1, 1));
  EXPECT_FALSE(takes_links(33, 1, 1));
  EXPECT_FALSE(takes_links(1, 0, 1));
  EXPECT_FALSE(takes_links(1, 1, 0));
  const auto takes_reason = [](std::size_t length) {
    return is_taken_with(
        [&](protozero::pbf_writer& span) { span.add_bytes(13, std::string(length, 'r')); });
  };
  EXPECT_TRUE(takes_reason(4096));
  EXPECT_FALSE(takes_reason(4097));
}

TEST(Span, MayComeInTwoParts) {
  const SpanAttribute attribute{"key", "text"};
  Span first = sample_span();
  first.attributes = {&attribute, 1};
  Span second{.flags = kIsHeld, .capture_bits = 8};
  first.flags = first.capture_bits = 0;
  std::string fields, body;
  append_span_fields(fields, first);
  append_span(body, second, fields);
  const Arrival arrival(body);
  ASSERT_TRUE(arrival.is_taken);
  const Span& arrived = arrival.events.spans[0];
  EXPECT_EQ(list(arrived.attributes), list(first.attributes));
  EXPECT_EQ(std::tuple(arrived.flags, arrived.capture_bits, arrived.begin_ns, arrived.span),
            std::tuple(kIsHeld, CaptureBits{8}, first.begin_ns, first.span));
}

TEST(Span, IsSentWithoutWhatWouldBeRefused) {
  const std::string long_text(kMaxAttributeTextLength + 1, 'x');
  const std::string long_key(kMaxAttributeKeyLength + 1, 'x');
  std::vector<SpanAttribute> attributes = {
      {"long", long_text}, {long_key, "value"}, {"", "value"}, {"number", long_text, 1.5}};
  attributes.insert(attributes.end(), 39, {"key", "text"});
  std::vector<SpanLink> links = {{{}, 1}, {kTrace, 0}, {kTrace, kSpan}};
  links.insert(links.end(), 32, {kTrace, kSpan});
  Span span = sample_span();
  span.reason = long_text;
  span.attributes = attributes;
  span.links = links;
  span.left_out = 10;
  const Arrival arrival({span});
  ASSERT_TRUE(arrival.is_taken);
  const Span& arrived = arrival.events.spans[0];
  EXPECT_EQ(arrived.reason, std::string_view(long_text).substr(1));
  std::vector<SpanAttribute> first(32, {"key", "text"});
  first.front() = {"number", {}, 1.5};
  EXPECT_EQ(list(arrived.attributes), first);
  EXPECT_EQ(list(arrived.links), std::vector<SpanLink>(32, {kTrace, kSpan}));
  EXPECT_EQ(arrived.left_out, 10u + (3 + 8) + (2 + 1));
}

// All other numbers are as long as possible, and small attributes remain.
TEST(Span, LeavesOutAttributesForWhichThereIsNoRoom) {
  const std::string text(kMaxAttributeTextLength, 't');
  std::vector<SpanAttribute> attributes(kMaxAttributes - 1, {"key", text});
  attributes.push_back({"last", "small"});
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const std::vector<SpanLink> links(kMaxLinks, {{kMost, kMost}, kMost});
  constexpr auto kMost32 = std::numeric_limits<std::uint32_t>::max();
  const Span span{.tag_id = kMost32,
                  .begin_ns = kLatestEndNs / 2,
                  .duration_ns = kLatestEndNs / 2,
                  .trace = {kMost, kMost},
                  .span = kMost,
                  .parent = kMost,
                  .flags = kMost32,
                  .tid = kMost32,
                  .capture_bits = kMost32,
                  .aborted = true,
                  .reason = text,
                  .attributes = attributes,
                  .links = links,
                  .left_out = kMost32 - 100,
                  .value = 1.1};
  std::string body;
  append_span(body, span);
  EXPECT_LE(body.size(), kMaxSpanBytes);
  EXPECT_GT(body.size(), kMaxSpanBytes - kMaxAttributeTextLength - 2048);
  const Arrival arrival({span});
  ASSERT_TRUE(arrival.is_taken);
  const Span& arrived = arrival.events.spans[0];
  EXPECT_EQ(arrived.links.size(), kMaxLinks);
  EXPECT_EQ(arrived.left_out, span.left_out + kMaxAttributes - arrived.attributes.size());
  EXPECT_EQ(arrived.attributes.back(), attributes.back());
}

TEST(CaptureCount, IsRefusedBeyondItsLimits) {
  constexpr std::uint64_t kMost = kMaxCaptureCount;
  const auto takes = [](const CaptureCount& count) {
    return Arrival(std::string(), {count}).is_taken;
  };
  EXPECT_TRUE(takes({1, kMost, kMost, kMost, kMost, kMost, kAllIds}));
  EXPECT_FALSE(takes({0, 1, 0, 0, 0, 0}));
  EXPECT_FALSE(takes({1, kMost + 1, 0, 0, 0, 0}));
  EXPECT_FALSE(takes({1, 0, kMost + 1, 0, 0, 0}));
  EXPECT_FALSE(takes({1, 0, 0, kMost + 1, 0, 0}));
  EXPECT_FALSE(takes({1, 0, 0, 0, kMost + 1, 0}));
  EXPECT_FALSE(takes({1, 0, 0, 0, 0, kMost + 1}));
  EXPECT_FALSE(takes({1, 0, 0, 0, 0, 0, kAllIds + 1}));
}

bool is_taken(const Control& control) {
  return decode_control(payload_of(pdu_of(append_control, control))).has_value();
}

TEST(Control, WithoutARateMeansAnyRate) {
  const std::string pdu = pdu_of(append_control, {.number = 1});
  EXPECT_EQ(to_hex(payload_of(pdu)), "0801");
  EXPECT_EQ(decode_control(payload_of(pdu)).value().most_a_second, kAnyRate);
  EXPECT_FALSE(decode_control(""));
}

TEST(Control, HasACaptureForEachPlaceAtMost) {
  Control control{.number = 1};
  for (std::uint32_t bit = 0; bit < kMaxCaptures; ++bit)
    control.captures.push_back({bit + 1, bit, "tag=*"});
  EXPECT_TRUE(is_taken(control));
  control.captures.push_back({kMaxCaptures + 1, 5, "tag=*"});
  EXPECT_FALSE(is_taken(control));
}

TEST(Control, IsRefusedIfACaptureBreaksALimit) {
  const auto takes = [](const Capture& capture) {
    const Control control{.number = 1, .captures = {{7, 0, "tag=*"}, capture}};
    Welcome welcome = sample_capturing_welcome();
    welcome.control = control;
    const bool is_welcome = decode_welcome(payload_of(pdu_of(append_welcome, welcome))).has_value();
    EXPECT_EQ(is_taken(control), is_welcome);
    return is_welcome;
  };
  EXPECT_TRUE(takes({8, 31, std::string(kMaxFilterLength, 'x')}));
  EXPECT_FALSE(takes({8, 31, std::string(kMaxFilterLength + 1, 'x')}));
  EXPECT_FALSE(takes({8, 32, "tag=*"}));
  EXPECT_FALSE(takes({8, 0, "tag=*"}));  // another's bit
  EXPECT_FALSE(takes({7, 1, "tag=*"}));  // another's id
  EXPECT_FALSE(takes({0, 1, "tag=*"}));
  EXPECT_FALSE(decode_control({"\x08\x01\x12\x08\x08\x01\x10\x83\x80\x80\x80\x10", 12}))
      << "a place of more than 32 bits";
}

TEST(Wanted, IsRefusedIfItBreaksALimit) {
  const auto is_taken = [](const std::vector<WantedTrace>& wanted) {
    Events events;
    const bool in_events =
        decode_events(payload_of(pdu_of(append_events, 1, 1, {}, wanted, "")), events);
    EXPECT_EQ(decode_wanted(payload_of(pdu_of(append_wanted, wanted))).has_value(), in_events);
    return in_events;
  };
  EXPECT_TRUE(is_taken(std::vector<WantedTrace>(kMaxWanted, {1, 1})));
  EXPECT_FALSE(is_taken(std::vector<WantedTrace>(kMaxWanted + 1, {1, 1})));
  EXPECT_FALSE(is_taken({{1, 0}}));
}

// Libraries and agents of other languages and processors need the same number.
TEST(HashOfTrace, IsSipHashOfTheLowHalf) {
  EXPECT_EQ(hash_of_trace(1), 0x78f71c4b4bba13e0);
  EXPECT_EQ(hash_of_trace(0xa3ce929d0e0e4736), 0xe32ee28a4848f383);
}

}  // namespace
}  // namespace pcp::trace::wire
