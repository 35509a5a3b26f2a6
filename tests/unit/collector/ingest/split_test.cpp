// SPDX-License-Identifier: LGPL-2.1-or-later
// Labels of a process that become part of its tags (--split), and what it says of the tags.
#include "collector/ingest/split.hpp"

#include <unistd.h>

#include "base/clock.hpp"
#include "unit/collector/ingest/agent_side.hpp"
#include "wire/legacy.hpp"

namespace pcp::trace::agent {
namespace {

using enum TraceType;

std::string split(const std::vector<std::string>& keys, std::string_view tag) {
  wire::Hello hello;
  hello.service = "shop";
  hello.labels = {{"rank", "3"}, {"zone", "north east"}, {"rank", "4"}};
  Split split;
  split.begin(keys, 77, hello);
  std::string out;
  return split.write(tag, out) ? out : "too long: " + out;
}

TEST(Split, AddsTheLabelsThatTheProcessHas) {
  EXPECT_EQ(split({"pid", "rank", "service", "zone"}, "a"),
            "a{pid=77;rank=3;service=shop;zone=north%20east}");
  EXPECT_EQ(split({"absent", "rank"}, "a b"), "a b{rank=3}");
  EXPECT_EQ(split({"absent"}, "a"), "a");
  Split stock;
  stock.begin({"pid", "rank", "service"}, 77);
  std::string out;
  EXPECT_TRUE(stock.write("a", out));
  EXPECT_EQ(out, "a{pid=77}");
  stock.begin({"pid"}, 0);
  EXPECT_TRUE(stock.empty());
}

TEST(Split, LeavesATagTheLabelsThatItHas) {
  EXPECT_EQ(split({"rank", "service"}, "a{m=%0A;rank=own}"), "a{m=%0A;rank=own;service=shop}");
  EXPECT_EQ(split({"rank"}, "a{no labels}"), "a{no labels}{rank=3}");
}

TEST(Split, LeavesATagAsItIsIfThatWouldBeTooLong) {
  const std::string longest(254 - std::string("{rank=3}").size(), 'x');
  EXPECT_EQ(split({"rank"}, longest), longest + "{rank=3}");
  EXPECT_EQ(split({"rank"}, longest + "x"), "too long: " + longest + "x");
}

class SplitOf : public AgentSide {
 protected:
  static wire::Hello hello(std::uint8_t session, const std::string& rank) {
    wire::Hello hello = hello_of(session);
    hello.labels = {{"rank", rank}};
    return hello;
  }
};

TEST_F(SplitOf, ProcessesOfVersion2CountApart) {
  start_with([](auto& options) { options.split = {"rank"}; });
  PduStream& first = unix_socket();
  PduStream& second = unix_socket();
  ASSERT_TRUE(first.hello(hello(1, "1")));
  ASSERT_TRUE(second.hello(hello(2, "2")));
  const std::string tags = tags_pdu({{1, "tag"}, {2, "(overflow)"}, {3, std::string(254, 'x')}});
  for (PduStream* const peer : {&first, &second}) {
    ASSERT_TRUE(peer->deliver(
        1, entry(1, Point, {-1}) + entry(2, Point, {-1}) + entry(3, Point, {-1}), tags));
  }
  EXPECT_EQ(count_of(Point, "tag{rank=1}"), 1u);
  EXPECT_EQ(count_of(Point, "tag{rank=2}"), 1u);
  EXPECT_EQ(count_of(Point, "(overflow)"), 2u);
  EXPECT_EQ(count_of(Point, std::string(254, 'x')), 2u);
  EXPECT_EQ(counters().unsplit, 2u);
}

TEST_F(SplitOf, StockProgramsCountApartByTheirPid) {
  start_with([](auto& options) { options.split = {"pid", "service"}; });
  PduStream& local = unix_socket();
  PduStream& remote = tcp();
  for (PduStream* const peer : {&local, &remote}) {
    EXPECT_TRUE(peer->next_ack());
    ASSERT_TRUE(peer->send(data_pdu(Observe, "tag", 1) + data_pdu(Observe, "tag", 1, true)));
    EXPECT_EQ(peer->next_ack(), ack_of(Observe));
  }
  // The pid of the kernel, and the pid in the PDU.
  EXPECT_EQ(count_of(Observe, "tag{pid=" + std::to_string(::getpid()) + "}"), 2u);
  EXPECT_EQ(count_of(Observe, "tag{pid=" + std::to_string(wire::kPid) + "}"), 2u);
}

class DescriptionOf : public AgentSide {
 protected:
  std::string description(TraceType type, const std::string& tag) {
    const auto name = instance(type, tag);
    return name && name->description ? name->description->members() : "";
  }
};

TEST_F(DescriptionOf, ATagIsTheFirstProcessesUntilAReset) {
  PduStream& first = client(1);
  PduStream& second = client(2);
  const auto send = [](PduStream& peer, std::uint64_t sequence, const std::string& before) {
    EXPECT_TRUE(peer.deliver(sequence, entry(1, Point, {-1}), before));
  };
  send(first, 1, tags_pdu({{1, "tag"}}));
  EXPECT_EQ(description(Point, "tag"), "");
  send(first, 2, tags_pdu({{1, "tag", "ms", "all of \"it\""}}));  // defined again
  const std::string whole = R"("unit":"ms","description":"all of \"it\"")";
  EXPECT_EQ(description(Point, "tag"), whole);
  send(second, 1, tags_pdu({{1, "tag", "s", ""}}));
  EXPECT_EQ(description(Point, "tag"), whole);
  EXPECT_NE(log_line_with("describes \"tag\" differently"), "");
  EXPECT_EQ(log().size(), 1u);

  reset();
  send(second, 2, "");
  EXPECT_EQ(description(Point, "tag"), R"("unit":"s")");
  send(first, 3, "");
  EXPECT_EQ(log().size(), 2u);
}

TEST_F(DescriptionOf, ATagMayComeAfterItsLastValues) {
  PduStream& first = client(1);
  PduStream& second = client(2);
  const std::string values = entry(1, Point, {-1}) + entry(1, Observe, {3});
  ASSERT_TRUE(first.deliver(1, values, tags_pdu({{1, "tag"}})));
  ASSERT_TRUE(first.deliver(2, "", tags_pdu({{1, "tag", "ms", ""}})));
  for (const TraceType type : {Point, Observe})
    EXPECT_EQ(description(type, "tag"), R"("unit":"ms")");
  ASSERT_TRUE(second.deliver(1, values, tags_pdu({{1, "tag"}})));
  ASSERT_TRUE(second.deliver(2, "", tags_pdu({{1, "tag", "s", ""}})));
  EXPECT_NE(log_line_with("describes \"tag\" differently"), "");
  EXPECT_EQ(log().size(), 1u);
}

TEST_F(DescriptionOf, AUsersTagsMayTakeSoMuchMemory) {
  start_with([](auto& options) { options.max_kept_label_bytes = 2000; });
  PduStream& peer = client();
  const std::string text(1000, 'x');  // will be cut
  for (std::uint32_t id = 1; id <= 10; ++id) {
    const std::string name = "tag" + std::to_string(id);
    ASSERT_TRUE(peer.deliver(id, entry(id, Point, {-1}), tags_pdu({{id, name, text, text}})));
    EXPECT_EQ(description(Point, name).empty(), id > 3);
    EXPECT_LT(description(Point, name).size(), 320u);
  }
  EXPECT_EQ(counters().labels_refused, 7u);
}

}  // namespace
}  // namespace pcp::trace::agent
