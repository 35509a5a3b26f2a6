// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/spans/black_box.hpp"

#include <sys/socket.h>

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/box_memory.hpp"
#include "support/error_of.hpp"

namespace pcp::trace::agent {
namespace {

using namespace wire::box;
using Ids = std::vector<std::uint64_t>;

constexpr std::uint64_t kTag = 0x5555'0000'1230;
constexpr std::uint64_t kDied = 1'000'000;
constexpr std::uint64_t kBits = std::uint64_t{0b101} << kCaptureBitsAt;
constexpr std::uint64_t kFarFuture = std::uint64_t{1} << 63;

// A copy of its texts, too.
struct Read {
  BoxSpan it;
  wire::Span span = it.span;
  std::string tag{it.tag};
  std::size_t attributes = span.attributes.size();
};

class BlackBoxReader : public testing::Test {
 protected:
  BlackBoxReader() {
    box_.set_clock(5'000);
    box_.add_set(7, 70);
    box_.add_tag(3, kTag, "request{route=/cart}");
  }

  std::vector<Read> read(std::uint64_t last_events = 0) {
    Result<BlackBox> taken = BlackBox::take(box_.copy());
    if (!taken) return {};
    BoxReader reader(*std::move(taken), last_events, kDied);
    std::vector<Read> all;
    for (parts_ = 1; reader.read_on([&](const BoxSpan& span) { all.push_back({span}); });) ++parts_;
    is_torn_ = reader.is_ring_torn();
    return all;
  }
  Ids ids() {
    Ids all;
    for (const Read& each : read()) all.push_back(each.span.span);
    return all;
  }

  static Node node(std::uint64_t own = 9) {
    Node node{};
    node.tag = kTag;
    node.trace_high = 1;
    node.trace_low = 2;
    node.own = own;
    node.parent = 8;
    node.packed = kBits;
    node.begin_ns = 1'000;
    node.duration_ns = 30;
    node.epoch = 7;
    node.tid = 44;
    node.is_live = 1;
    return node;
  }
  static Slot slot(std::uint64_t own = 9) {
    Slot slot{};
    slot.begun = 2 * 400'000 + 1;
    slot.reason_for = 0b100;
    slot.epoch = 7;
    slot.trace_high = 1;
    slot.trace_low = 2;
    slot.tag = kTag;
    slot.parent = 8;
    slot.packed = kBits;
    slot.tid = 44;
    slot.own = own;
    return slot;
  }
  static Record record() {
    return {.epoch = 7, .tag_and_flags = 3 << 8, .undecided = 0b100, .trace_low = 2};
  }
  static std::string fields(std::uint64_t own = 9) {
    const wire::SpanAttribute attribute{"key", "text"};
    std::string fields;
    wire::append_span_fields(fields, {.begin_ns = 6'000,
                                      .duration_ns = 30,
                                      .trace = {1, 0},
                                      .span = own,
                                      .attributes = {&attribute, 1}});
    return fields;
  }

  BoxMemory box_;
  bool is_torn_ = false;
  unsigned parts_ = 0;
};

TEST_F(BlackBoxReader, FindsNothingInANewBox) { EXPECT_TRUE(read().empty()); }

TEST_F(BlackBoxReader, GivesSpansThatEnded) {
  Node ended = node();
  ended.packed |= kCameIn | kProgramWants | 1;
  ended.kind = static_cast<std::uint8_t>(wire::SpanKind::Server);
  ended.aborted = 1;
  ended.notes = 0x77;
  box_.put_node(2, ended);
  const auto all = read();
  ASSERT_EQ(all.size(), 1u);
  const wire::Span& span = all[0].span;
  EXPECT_EQ(all[0].tag, "request{route=/cart}");
  EXPECT_EQ(all[0].it.control, 70u);
  EXPECT_EQ(all[0].it.is_sure, 0u);
  EXPECT_FALSE(all[0].it.was_open());
  EXPECT_EQ(span.kind, wire::SpanKind::Server);
  EXPECT_EQ(span.begin_ns, 6'000u);
  EXPECT_EQ(span.duration_ns, 30u);
  EXPECT_EQ(span.trace, (wire::TraceId{1, 2}));
  EXPECT_EQ(span.span, 9u);
  EXPECT_EQ(span.parent, 8u);
  EXPECT_EQ(span.flags, 1u | wire::kParentIsElsewhere | wire::kIsWanted);
  EXPECT_EQ(span.tid, 44u);
  EXPECT_EQ(span.capture_bits, 0b101u);
  EXPECT_TRUE(span.aborted);
  EXPECT_EQ(span.left_out, 1u);  // its attributes are lost
}

TEST_F(BlackBoxReader, GivesEventsWithTheSpanAround) {
  Node event = node(0);
  event.kind = static_cast<std::uint8_t>(wire::SpanKind::Observe);
  event.value = 1.5;
  box_.put_node(0, event);
  const auto all = read();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].span.span, 8u);
  EXPECT_EQ(all[0].span.parent, 0u);
  EXPECT_EQ(all[0].span.value, 1.5);
}

TEST_F(BlackBoxReader, GivesTransactionsThatWereOpen) {
  Slot open = slot();
  open.left_out = 1;
  open.head = std::uint64_t{1} << 32 | std::uint64_t{wire::kIfFailed | wire::kIfDied} << kReasonsAt;
  open.packed |= kIsInsideOneThatCameIn;
  box_.put_slot(kSlotsInBlock * kMostBlocks - 1, open);
  const auto all = read();
  EXPECT_LT(parts_, 10u);  // it skips what was never written
  ASSERT_EQ(all.size(), 1u);
  const wire::Span& span = all[0].span;
  EXPECT_TRUE(all[0].it.was_open());
  EXPECT_EQ(all[0].tag, "request{route=/cart}");
  EXPECT_EQ(all[0].it.may_want_it, 0b100u);
  EXPECT_EQ(all[0].it.reasons, wire::kIfFailed);
  EXPECT_EQ(span.capture_bits, 0b100u);
  EXPECT_EQ(span.kind, wire::SpanKind::Internal);
  EXPECT_EQ(span.flags, wire::kWasOpen | wire::kParentIsElsewhere);
  EXPECT_EQ(span.begin_ns, 405'000u);
  EXPECT_EQ(span.duration_ns, 600'000u);
  EXPECT_EQ(span.span, 9u);
  EXPECT_EQ(span.parent, 8u);
}

// Its slot has the captures for which it was slow where the reasons were.
TEST_F(BlackBoxReader, GivesNoReasonsOfATransactionThatWasEnding) {
  Slot ending = slot();
  ending.head = std::uint64_t{2} << 32 | std::uint64_t{wire::kNotedReasons} << kReasonsAt;
  box_.put_slot(0, ending);
  EXPECT_EQ(read().at(0).it.reasons, 0u);
}

TEST_F(BlackBoxReader, GivesAServersTransactionThatBeganAfterItsEndWasSeen) {
  Slot open = slot();
  open.packed |= kCameIn;
  open.begun = 2 * (kDied + 5) + 1;
  box_.put_slot(0, open);
  const auto all = read();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].span.kind, wire::SpanKind::Server);
  EXPECT_EQ(all[0].span.duration_ns, 0u);
}

TEST_F(BlackBoxReader, GivesSpansOfTheRing) {
  Record ended = record();
  ended.tag_and_flags |= kCameIn;
  ended.to_send = 0b10;
  box_.add_record(ended, fields());
  const auto all = read();
  ASSERT_EQ(all.size(), 1u);
  const wire::Span& span = all[0].span;
  EXPECT_EQ(all[0].tag, "request{route=/cart}");
  EXPECT_EQ(all[0].it.control, 70u);
  EXPECT_EQ(all[0].it.is_sure, 0b10u);
  EXPECT_EQ(all[0].attributes, 1u);
  EXPECT_EQ(span.capture_bits, 0b110u);
  EXPECT_EQ(span.trace, (wire::TraceId{1, 2}));
  EXPECT_EQ(span.span, 9u);
  EXPECT_EQ(span.begin_ns, 6'000u);
  EXPECT_EQ(span.flags, wire::kParentIsElsewhere);
}

TEST_F(BlackBoxReader, GoesAroundTheEndOfTheRing) {
  box_.begin_ring(10 * 4096 - 200);
  for (const std::uint64_t own : {21u, 22u, 23u, 24u}) box_.add_record(record(), fields(own));
  EXPECT_EQ(ids(), (Ids{21, 22, 23, 24}));
  EXPECT_FALSE(is_torn_);
}

TEST_F(BlackBoxReader, ReadsALargeRingInPieces) {
  box_ = BoxMemory(1u << 20);
  box_.add_set(7, 70);
  Ids all;
  for (std::uint64_t own = 1; own < 7'000; ++own) {
    box_.add_record(record(), fields(own));
    all.push_back(own);
  }
  EXPECT_EQ(ids(), all);
}

TEST_F(BlackBoxReader, LeavesOutWhatTheAgentHasTaken) {
  for (const CaptureBits undecided : {0u, 1u})
    for (const std::uint32_t sequence : {4u, 5u, 6u}) {
      Record in_flight = record();
      in_flight.undecided = undecided;
      in_flight.in_flight = 1;
      in_flight.sequence = sequence;
      box_.add_record(in_flight, fields(sequence));
    }
  const std::uint64_t last = (std::uint64_t{3} << 32) + 5;  // the low half is compared
  const auto all = read(last);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].span.span, 6u);
  EXPECT_EQ(all[0].it.is_sure, 1u);
  EXPECT_EQ(all[1].span.span, 6u);
  EXPECT_EQ(all[1].it.is_sure, 0u);
  EXPECT_EQ(read(UINT32_MAX).size(), 6u);  // the low half has begun anew
}

TEST_F(BlackBoxReader, KnowsNoControlOfAnEpochThatIsGone) {
  Node other = node();
  other.epoch = 7 + 16;
  box_.put_node(0, other);
  Record of_other = record();
  of_other.epoch = 7 + 32;
  box_.add_record(of_other, fields());
  const auto all = read();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].it.control, 0u);
  EXPECT_EQ(all[1].it.control, 0u);
}

TEST_F(BlackBoxReader, KnowsARecordsEpochByItsLowHalf) {
  box_.add_set((5 << 16) + 7, 71);
  box_.add_record(record(), fields());
  EXPECT_EQ(read().at(0).it.control, 71u);
}

TEST_F(BlackBoxReader, NamesTagsThatItDoesNotKnow) {
  box_.add_tag_at(4, kTag + 1, kMostTagText - 3, 4);
  box_.write(kNodesAt - 3, "name");
  box_.add_tag_at(5, kTag + 2, UINT32_MAX, 4);
  box_.add_tag_at(6, kTag + 3, 0, 255);
  box_.add_tag(7, kTag + 4, std::string_view("a\0b", 3));
  box_.add_tag(8, kTag + 5, "");
  for (std::uint64_t i = 1; i <= 6; ++i) {
    Node of_tag = node(i);
    of_tag.tag = kTag + i;
    box_.put_node(i, of_tag);
  }
  for (const std::uint32_t id : {4u, 8u, 1'000u, 0xFF'FFFEu}) {
    Record of_tag = record();
    of_tag.tag_and_flags = id << 8;
    box_.add_record(of_tag, fields(100 + id));
  }
  const auto all = read();
  EXPECT_EQ(all.size(), 10u);
  for (const Read& each : all) {
    EXPECT_EQ(each.tag, "(unknown tag)");
    EXPECT_EQ(each.span.tag_id, BoxReader::kUnknownTag);
  }
}

TEST_F(BlackBoxReader, LeavesOutWhatIsNotASpan) {
  auto put = [&, index = 0u](auto change) mutable {
    Node wrong = node();
    change(wrong);
    box_.put_node(index++, wrong);
  };
  put([](Node& node) { node.is_live = 0; });
  put([](Node& node) { node.is_live = 2; });
  put([](Node& node) { node.kind = 7; });
  put([](Node& node) { node.trace_high = node.trace_low = 0; });
  put([](Node& node) { node.own = 0; });
  put([](Node& node) { node.packed = 0; });
  put([](Node& node) { node.begin_ns = kFarFuture; });
  put([](Node& node) { node.duration_ns = kFarFuture; });
  EXPECT_EQ(ids(), Ids{});
}

TEST_F(BlackBoxReader, LeavesOutWhatWasOpenAtAnEndInOrder) {
  box_.put_slot(0, slot());
  box_.put_node(0, node());
  EXPECT_EQ(read().size(), 2u);
  box_.put(offsetof(Head, is_ending), std::uint32_t{1});
  EXPECT_EQ(read().size(), 1u);
}

TEST_F(BlackBoxReader, LeavesOutWhatIsNotOpen) {
  auto put = [&, index = 0u](auto change) mutable {
    Slot wrong = slot();
    change(wrong);
    box_.put_slot(index++, wrong);
  };
  put([](Slot& slot) { slot.own = 0; });
  put([](Slot& slot) { slot.begun = 0; });
  put([](Slot& slot) { slot.begun = UINT64_MAX; });
  put([](Slot& slot) { slot.packed = 0; });
  put([](Slot& slot) { slot.trace_high = slot.trace_low = 0; });
  EXPECT_EQ(ids(), Ids{});
}

TEST_F(BlackBoxReader, LeavesOutRecordsWithoutASpan) {
  box_.add_record(record(), "no fields");
  box_.add_record(record(), {});
  Record of_none = record();
  of_none.undecided = 0;
  box_.add_record(of_none, fields());
  std::string twice = fields();  // they may not choose another trace, nor captures
  wire::append_span_fields(twice, {.trace = {0, 77}, .capture_bits = 0xFF});
  box_.add_record(record(), twice);
  Record outside = record();
  outside.trace_low = 0;
  std::string high;
  wire::append_span_fields(high, {.trace = {0, 5}, .span = 4});
  box_.add_record(outside, high);
  const auto all = read();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].span.trace.low, 2u);
  EXPECT_EQ(all[0].span.capture_bits, 0b100u);
  EXPECT_FALSE(is_torn_);
}

TEST_F(BlackBoxReader, StopsWhereTheRingIsWrong) {
  const auto expect_torn = [&](auto tear, const Ids& before) {
    box_ = BoxMemory();
    tear();
    EXPECT_EQ(ids(), before);
    EXPECT_TRUE(is_torn_);
  };
  expect_torn(
      [&] {  // more than there is
        box_.add_record(record(), fields(5));
        box_.add_raw({.bytes = 4096 - 120, .tag_and_flags = kGap}, 8, {});
        box_.set_head(2 * 4096);
      },
      {});
  expect_torn(
      [&] {
        box_.begin_ring(4);
        box_.add_record(record(), fields(5));
      },
      {});
  expect_torn([&] { box_.set_head(8); }, {});  // of zeros
  expect_torn(
      [&] {
        box_.add_record(record(), fields(5));
        box_.add_raw({.bytes = 47, .undecided = 1}, 48, {});
        box_.add_record(record(), fields(6));
      },
      {5});
  expect_torn([&] { box_.add_raw({.bytes = 7, .tag_and_flags = kGap}, 8, {}); }, {});
  expect_torn(
      [&] {
        box_.add_record(record(), fields(5));
        box_.add_raw({.bytes = 4096}, 48, {});
        box_.set_head(4096);
      },
      {5});
  expect_torn(
      [&] {  // it goes over the end of the memory
        box_.begin_ring(4096 - 48);
        box_.add_raw({.bytes = 56}, 48, {});
      },
      {});
}

TEST(BlackBox, IsAMemoryOfTheRightSize) {
  const auto trouble = [](const BoxMemory& box) { return error_of(BlackBox::take(box.copy())); };
  EXPECT_EQ(trouble(BoxMemory()), "");
  EXPECT_EQ(trouble(BoxMemory(kMostRingBytes)), "");
  for (const unsigned seals : {0u, unsigned{F_SEAL_SHRINK}, unsigned{F_SEAL_GROW}})
    EXPECT_EQ(trouble(BoxMemory(4096, seals)),
              "it is not a memory that is sealed against shrinking and growing");
  for (const std::uint64_t ring : {std::uint64_t{0}, std::uint64_t{100}, kMostRingBytes + 4096})
    EXPECT_NE(trouble(BoxMemory(ring)), "");
  BoxMemory larger;
  larger.put(offsetof(Head, ring_bytes), std::uint64_t{8192});
  EXPECT_EQ(trouble(larger), "it has " + std::to_string(file_bytes(4096)) +
                                 " bytes, and says that 8192 of them are for ended spans");
  BoxMemory other;
  other.put(offsetof(Head, layout), kLayout + 1);
  EXPECT_EQ(trouble(other), "its layout is not this agent's");
}

TEST(BlackBox, IsNothingElse) {
  const auto trouble = [](Descriptor descriptor) {
    return error_of(BlackBox::take(std::move(descriptor)));
  };
  EXPECT_NE(trouble(Descriptor(::open("/dev/zero", O_RDONLY | O_CLOEXEC))), "");
  EXPECT_NE(trouble(Descriptor(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC))), "");
  EXPECT_NE(trouble(Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0))), "");
  EXPECT_NE(trouble(Descriptor(::memfd_create("empty", MFD_CLOEXEC))), "");
}

}  // namespace
}  // namespace pcp::trace::agent
