// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/event_array.hpp"

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "metrics/span_items.hpp"
#include "support/span_reading.hpp"

namespace pcp::trace::agent {
namespace {

constexpr int kDomain = 10;
constexpr WallTime kNow{std::chrono::seconds(100)};

constexpr unsigned kStart = PM_EVENT_FLAG_START | PM_EVENT_FLAG_ID;
constexpr unsigned kEnd = PM_EVENT_FLAG_END | PM_EVENT_FLAG_ID;
constexpr unsigned kPoint = PM_EVENT_FLAG_POINT;

struct Record {
  std::int32_t seconds = 0;
  std::int32_t microseconds = 0;
  unsigned flags = 0;
  int count = 0;
  std::vector<unsigned> order;  // of the parameters
  std::map<unsigned, std::string> texts;
  std::map<unsigned, std::uint64_t> numbers;
};

template <typename Value>
Value read(const char* from) {
  Value value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::uint64_t number_in(int type, const char* from) {
  switch (type) {
    case PM_TYPE_U32:
      return read<std::uint32_t>(from);
    case PM_TYPE_U64:
      return read<std::uint64_t>(from);
    default:
      EXPECT_EQ(type, PM_TYPE_DOUBLE);
      return static_cast<std::uint64_t>(read<double>(from));
  }
}

// Unpacks as PCP's library does. Bytes between two values must be 0.
std::vector<Record> unpack(const EventArray& array) {
  const char* next = reinterpret_cast<const char*>(array.get());
  const auto count = read<int>(next + offsetof(pmEventArray, ea_nrecords));
  EXPECT_EQ(array.get()->vtype, unsigned{PM_TYPE_EVENT});
  const char* const end = next + array.get()->vlen;
  next += offsetof(pmEventArray, ea_record);
  std::vector<Record> records;
  for (int i = 0; i < count; ++i) {
    Record record;
    record.seconds = read<std::int32_t>(next);
    record.microseconds = read<std::int32_t>(next + 4);
    record.flags = read<unsigned>(next + 8);
    record.count = read<int>(next + 12);
    next += offsetof(pmEventRecord, er_param);
    const bool is_missed = (record.flags & PM_EVENT_FLAG_MISSED) != 0;
    for (int j = 0; !is_missed && j < record.count; ++j) {
      pmEventParameter parameter{};
      std::memcpy(&parameter, next, sizeof parameter);
      const unsigned item = pmID_item(parameter.ep_pmid);
      EXPECT_EQ(pmID_cluster(parameter.ep_pmid), kSpanCluster);
      EXPECT_EQ(pmID_domain(parameter.ep_pmid), unsigned{kDomain});
      const char* const value = next + sizeof parameter;
      const std::size_t size = parameter.ep_len - PM_VAL_HDR_SIZE;
      record.order.push_back(item);
      if (parameter.ep_type == PM_TYPE_STRING)
        record.texts[item].assign(value, size);
      else
        record.numbers[item] = number_in(static_cast<int>(parameter.ep_type), value);
      next = value + (size + 3) / 4 * 4;
      for (const char* rest = value + size; rest < next; ++rest) EXPECT_EQ(*rest, 0);
    }
    records.push_back(record);
  }
  EXPECT_EQ(next, end);
  return records;
}

// Spans of one request.
StoredSpan spanning(std::uint64_t id, std::uint64_t begin_ns, std::uint64_t duration_ns,
                    std::uint64_t parent = 0) {
  StoredSpan span;
  span.tag = std::make_shared<const std::string>("request");
  span.source = std::make_shared<const SpanSource>(SpanSource{7, "shop", "cart", ""});
  span.trace_low = 9;
  span.span = id;
  span.parent = parent;
  span.begin_ns = begin_ns;
  span.duration_ns = duration_ns;
  return span;
}

EventArray packed(const SpanReading& reading, std::size_t most_bytes = 1u << 20) {
  return {kDomain, reading, most_bytes, kNow};
}
std::vector<Record> records_of(const SpanReading& reading) { return unpack(packed(reading)); }

std::string id(unsigned digit) { return std::string(15, '0') + static_cast<char>('0' + digit); }

TEST(EventArrayOf, ASpanHasABeginAndAnEndThatTellsAll) {
  StoredSpan span = spanning(5, 3'000'002'001, 1'000'000'000, 4);
  span.kind = wire::SpanKind::Server;
  span.aborted = true;
  span.tid = 8;
  span.flags = 0x101;
  span.left_out = 2;
  span.attributes = "a=b";
  span.links = "x-y";
  span.reason = "tired";
  const EventArray array = packed(reading_of({span}));
  EXPECT_EQ(array.taken(), 1u);
  const auto records = unpack(array);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].flags, kStart | PM_EVENT_FLAG_PARENT);
  EXPECT_EQ(records[0].seconds, 3);
  EXPECT_EQ(records[0].microseconds, 2);
  EXPECT_EQ(records[0].order,
            (std::vector<unsigned>{kSpanParam, kParentParam, kTraceParam, kTagParam}));
  const Record& end = records[1];
  EXPECT_EQ(end.flags, kEnd | PM_EVENT_FLAG_PARENT);
  EXPECT_EQ(end.seconds, 4);
  EXPECT_EQ(end.order[0], kSpanParam);
  EXPECT_EQ(end.order[1], kParentParam);
  EXPECT_EQ(end.texts, (std::map<unsigned, std::string>{{kSpanParam, id(5)},
                                                        {kParentParam, id(4)},
                                                        {kTraceParam, std::string(16, '0') + id(9)},
                                                        {kTagParam, "request"},
                                                        {kKindParam, "server"},
                                                        {kStatusParam, "aborted"},
                                                        {kReasonParam, "tired"},
                                                        {kServiceParam, "shop"},
                                                        {kProcessParam, "cart"},
                                                        {kAttributesParam, "a=b"},
                                                        {kLinksParam, "x-y"}}));
  EXPECT_EQ(end.numbers, (std::map<unsigned, std::uint64_t>{{kTimeParam, 3'000'002'001},
                                                            {kDurationParam, 1'000'000'000},
                                                            {kPidParam, 7},
                                                            {kTidParam, 8},
                                                            {kFlagsParam, 0x101},
                                                            {kMissingParam, 2}}));
}

TEST(EventArrayOf, SpansSaysHowEachEnded) {
  StoredSpan open = spanning(5, 0, 1);
  open.flags = wire::kWasOpen;
  std::vector<std::string> texts;
  for (const Record& record : records_of(reading_of({spanning(4, 0, 2), open})))
    if (record.flags == kEnd) texts.push_back(record.texts.at(kStatusParam));
  EXPECT_EQ(texts, (std::vector<std::string>{"died", "ok"}));
}

TEST(EventArrayOf, AnEventIsAPointWithItsSpanIfItIsInOne) {
  StoredSpan observed = spanning(0, 0, 0);
  observed.kind = wire::SpanKind::Observe;
  observed.value = 42;
  StoredSpan point = spanning(5, 0, 0);
  point.kind = wire::SpanKind::Point;
  const auto records = records_of(reading_of({observed, point}));
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].flags, kPoint);
  EXPECT_EQ(records[0].numbers.at(kValueParam), 42u);
  EXPECT_EQ(records[0].texts.count(kSpanParam), 0u);
  EXPECT_EQ(records[1].flags, kPoint | PM_EVENT_FLAG_ID);
  EXPECT_EQ(records[1].texts.at(kSpanParam), id(5));
  EXPECT_EQ(records[1].numbers.count(kValueParam), 0u);
  EXPECT_EQ(records[1].texts.count(kStatusParam), 0u);
}

// Children end before their parents, so they come first.
TEST(EventArrayOf, SpansIsInTheOrderOfTime) {
  std::string order;
  for (const Record& record :
       records_of(reading_of({spanning(3, 1000, 0, 2), spanning(2, 1000, 500, 1),
                              spanning(1, 1000, 500), spanning(4, 2000, 1)})))
    order += ((record.flags & PM_EVENT_FLAG_START) != 0 ? "+" : "-") +
             record.texts.at(kSpanParam).substr(15);
  EXPECT_EQ(order, "+2+1+3-3-2-1+4-4");
}

TEST(EventArrayOf, WhatWasMissedBeginsWithHowMany) {
  SpanReading reading = reading_of({spanning(1, 5'000'000'000, 10)}, 4);  // missed by programs
  reading.to.next_number += 7;                                            // dropped by the agent
  const auto records = records_of(reading);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].flags, PM_EVENT_FLAG_MISSED);
  EXPECT_EQ(records[0].count, 11);
  EXPECT_EQ(records[0].seconds, 5);
}

TEST(EventArrayOf, NothingButMissedOnesHasThePresentTime) {
  SpanReading reading = reading_of({});
  EXPECT_TRUE(records_of(reading).empty());
  reading.to.next_number = 7;
  const EventArray array = packed(reading);
  EXPECT_EQ(array.taken(), 0u);
  const auto records = unpack(array);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].count, 7);
  EXPECT_EQ(records[0].seconds, 100);
}

TEST(EventArrayOf, ManySpansHasNoMoreBytesThanItMay) {
  std::vector<StoredSpan> spans;
  for (std::uint64_t i = 1; i <= 1000; ++i) spans.push_back(spanning(i, i, 10));
  const SpanReading reading = reading_of(spans);
  EXPECT_EQ(packed(reading).taken(), 1000u);
  const EventArray some = packed(reading, 100'000);
  EXPECT_LE(some.get()->vlen, 100'000u);
  EXPECT_GT(some.get()->vlen, 99'000u);
  EXPECT_EQ(unpack(some).size(), 2 * some.taken());
  EXPECT_EQ(packed(reading, 1).taken(), 1u);
}

TEST(EventArrayOf, TheLastCenturiesHasATimeThatPcpCanShow) {
  const auto records = records_of(reading_of({spanning(1, wire::kLatestEndNs - 1, 1)}));
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].seconds, 0x7fffffff);
  EXPECT_EQ(records[1].numbers.at(kTimeParam), wire::kLatestEndNs - 1);
}

}  // namespace
}  // namespace pcp::trace::agent
