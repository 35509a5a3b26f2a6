// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wire/capture_filter.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/error_of.hpp"

namespace pcp::trace::wire {
namespace {

using namespace std::string_view_literals;

CaptureFilter filter(std::string_view text) {
  auto parsed = parse_capture_filter(text);
  EXPECT_TRUE(parsed) << text << ": " << error_of(parsed);
  return parsed ? *std::move(parsed) : CaptureFilter();
}

// It must mean the same as the text.
std::string canonical(std::string_view text) {
  const CaptureFilter parsed = filter(text);
  EXPECT_EQ(filter(text_of(parsed)), parsed);
  return text_of(parsed);
}

std::string complaint_about(std::string_view text) { return error_of(parse_capture_filter(text)); }

TEST(CaptureFilter, ReadsEveryWord) {
  const CaptureFilter all = filter(
      "tag=request,db/* slower=10ms died wanted failed share=1% limit=50/s pid=4711 service=web "
      "process=shop "
      "kind=point,observe,counter");
  ASSERT_EQ(all.tags.size(), 2u);
  EXPECT_EQ(all.tags[0].text(), "db/*");
  EXPECT_EQ(all.tags[1].text(), "request");
  EXPECT_EQ(all.slower_ns, 10'000'000u);
  EXPECT_EQ(all.reasons, kIfFailed | kIfWanted | kIfDied);
  EXPECT_EQ(all.share, kWholeShare / 100);
  EXPECT_EQ(all.limit, 50u);
  EXPECT_EQ(all.pid, 4711u);
  EXPECT_EQ(all.service.value().text(), "web");
  EXPECT_EQ(all.process.value().text(), "shop");
  EXPECT_TRUE(all.points && all.observations && all.counters);
}

TEST(CaptureFilter, IsEverythingByDefault) {
  const CaptureFilter all = filter("tag=*");
  EXPECT_EQ(all, CaptureFilter());
  EXPECT_TRUE(matches_tag(all, "any thing"));
  EXPECT_TRUE(matches_process(all, 1, "", "any"));
  EXPECT_EQ(share_threshold(all), 0u);
  EXPECT_EQ(all.limit, 1000u);
}

TEST(CaptureFilter, HasOneTextForFiltersThatAreTheSame) {
  EXPECT_EQ(canonical("tag=*"), "tag=* limit=1000/s");
  EXPECT_EQ(canonical(" limit=1000/s\t  pid=4711 "), "tag=* limit=1000/s pid=4711");
  EXPECT_EQ(canonical("kind=counter,point,transact service=* tag=b,a,b,\"a\" share=100%"),
            "tag=a,b limit=1000/s kind=point,counter");
  EXPECT_EQ(canonical("tag=a,*,b"), "tag=* limit=1000/s");
  EXPECT_EQ(canonical("process=shop service=web slower=5s share=2.50% limit=007/s"),
            "tag=* slower=5s share=2.5% limit=7/s service=web process=shop");
  EXPECT_EQ(canonical("kind=transact"), "tag=* limit=1000/s");
  EXPECT_EQ(canonical("died wanted failed slower=1s"),
            "tag=* slower=1s failed wanted died limit=1000/s");
  const char* const rich =
      "tag=\"a b\",[!a-z]\\,x,\\\",*? slower=1.5ms share=0.1% limit=1/s pid=1 "
      "service=\"[, ]\" process=[!\\]] kind=observe";
  EXPECT_EQ(canonical(canonical(rich)), canonical(rich));
}

TEST(CaptureFilter, IsSentWithoutItsReasonsInTheText) {
  Capture sent;
  set_filter(sent, filter("tag=a failed wanted died"));
  EXPECT_EQ(sent.filter, "tag=a limit=1000/s");  // an older client captures all of it
  EXPECT_EQ(filter_of(sent)->reasons, kIfFailed | kIfWanted | kIfDied);
  sent.reasons = kIfFailed | 8;  // of a newer agent
  EXPECT_EQ(text_of(*filter_of(sent)), "tag=a failed limit=1000/s");
}

TEST(CaptureFilter, HasTimesInTheirLargestUnitAndSharesAsPercentages) {
  for (const auto& [written, shown] : {std::pair("slower=1ns", "slower=1ns"),
                                       {"slower=1000ns", "slower=1us"},
                                       {"slower=1500us", "slower=1500us"},
                                       {"slower=1.5ms", "slower=1500us"},
                                       {"slower=0.25s", "slower=250ms"},
                                       {"slower=60000ms", "slower=60s"},
                                       {"slower=86400s", "slower=86400s"},
                                       {"slower=0.000000001s", "slower=1ns"},
                                       {"share=1%", "share=1%"},
                                       {"share=12.5%", "share=12.5%"},
                                       {"share=0.00000001%", "share=0.00000001%"},
                                       {"share=99.90%", "share=99.9%"},
                                       {"share=0.05%", "share=0.05%"}})
    EXPECT_EQ(canonical(written), "tag=* " + std::string(shown) + " limit=1000/s");
}

TEST(CaptureFilter, KeepsBlanksCommasAndQuotesOfPatterns) {
  EXPECT_EQ(canonical("tag=\"buy, or sell\",other"), "tag=\"buy, or sell\",other limit=1000/s");
  EXPECT_EQ(canonical("tag=buy\\ \\,"), "tag=\"buy ,\" limit=1000/s");
  EXPECT_EQ(canonical("tag=\"\\\"\\\\\\*\""), "tag=\\\"\\\\\\* limit=1000/s");
  EXPECT_TRUE(matches_tag(filter("tag=\"buy, or *\""), "buy, or sell"));
  EXPECT_TRUE(matches_tag(filter("tag=a\\,b"), "a,b"));
  EXPECT_FALSE(matches_tag(filter("tag=a,b"), "a,b"));
  EXPECT_TRUE(matches_tag(filter("tag=\"say \\\"a\\\"\""), "say \"a\""));
  EXPECT_TRUE(matches_tag(filter("tag=\"[, ]\""), ","));
  EXPECT_EQ(filter("slower=\"10ms\"").slower_ns, 10'000'000u);
  EXPECT_EQ(filter("service=\"a,b\""), filter("service=a\\,b"));
}

// A name matches its tags with any labels, unless the pattern has labels.
TEST(CaptureFilter, MatchesATagOrItsNameWithoutLabels) {
  const char* const tag = "request{route=/cart;zone=eu}";
  EXPECT_TRUE(matches_tag(filter("tag=request"), "request"));
  EXPECT_TRUE(matches_tag(filter("tag=request"), tag));
  EXPECT_TRUE(matches_tag(filter("tag=re?????"), tag));
  EXPECT_TRUE(matches_tag(filter("tag=request{*zone=eu*}"), tag));
  EXPECT_FALSE(matches_tag(filter("tag=request{*zone=us*}"), tag));
  EXPECT_FALSE(matches_tag(filter("tag=reques"), tag));
  EXPECT_TRUE(matches_tag(filter("tag=other,request"), tag));
  EXPECT_FALSE(matches_tag(filter("tag=request"), "request{no labels}"));
}

TEST(CaptureFilter, MatchesAProcessInAllThatItNames) {
  const CaptureFilter shop = filter("pid=4711 service=web* process=shop");
  EXPECT_TRUE(matches_process(shop, 4711, "web-1", "shop"));
  EXPECT_FALSE(matches_process(shop, 4712, "web-1", "shop"));
  EXPECT_FALSE(matches_process(shop, 4711, "mail", "shop"));
  EXPECT_FALSE(matches_process(shop, 4711, "web-1", "shopping"));
}

TEST(CaptureFilter, WantsTheEventsThatItNames) {
  const auto events = [](std::string_view text) {
    const CaptureFilter it = filter(text);
    return std::string(it.points ? "p" : "") + (it.observations ? "o" : "") +
           (it.counters ? "c" : "");
  };
  EXPECT_EQ(events("tag=*"), "");
  EXPECT_EQ(events("kind=point"), "p");
  EXPECT_EQ(events("kind=observe"), "o");
  EXPECT_EQ(events("kind=counter"), "c");
  EXPECT_EQ(events("kind=transact,point,observe,counter"), "poc");
}

// A share takes the trace ids with the highest low 56 bits.
TEST(CaptureFilter, TurnsAShareIntoAThreshold) {
  EXPECT_EQ(share_threshold(filter("share=100%")), 0u);
  EXPECT_EQ(share_threshold(filter("share=50%")), kAllIds / 2);
  EXPECT_EQ(share_threshold(filter("share=25%")), kAllIds / 4 * 3);
  EXPECT_EQ(share_threshold(filter("share=1%")), kAllIds - kAllIds / 100);
  EXPECT_EQ(share_threshold(filter("share=0.00000001%")), kAllIds - kAllIds / kWholeShare);
  EXPECT_TRUE(reaches_threshold(0xff80'0000'0000'0000, kAllIds / 2));
  EXPECT_FALSE(reaches_threshold(0xff7f'ffff'ffff'ffff, kAllIds / 2));
  EXPECT_TRUE(reaches_threshold(0, share_threshold(filter("tag=*"))));
}

TEST(CaptureFilter, SaysWhichWordIsWrongAndWhatWouldBeRight) {
  const std::pair<const char*, const char*> kWrong[] = {
      {"request",
       "request: each word must be a name, = and a value, such as tag=request, or "
       "failed, wanted or died"},
      {"tag request",
       "tag: each word must be a name, = and a value, such as tag=request, or "
       "failed, wanted or died"},
      {"tag=a pid=1 tag=b", "tag=b: this word is given twice"},
      {"tag=", "tag=: a value is missing"},
      {"pid=1 tag=a,,b", "tag=a,: a value is missing"},
      {"tag=a,", "tag=a,: a value is missing"},
      {"tag=\"\"", "tag=\"\": a value is missing"},
      {"tag=\"a b", "tag=\"a b: closing quote is missing; write a literal quote as \\\""},
      {"tag=\"a\"b",
       "tag=\"a\": quotes must enclose the whole value; write a literal quote as \\\""},
      {"tag=a\"b\"", "tag=a: quotes must enclose the whole value; write a literal quote as \\\""},
      {"tag=a\\", "tag=a\\: a backslash must not be its last character"},
      {"tag=ok,[a", "tag=ok,[a: ] is missing; write a literal [ as \\["},
      {"service=a,b", "service=a,b: takes one pattern; write a literal comma as \\,"},
  };
  for (const auto& [text, complaint] : kWrong) EXPECT_EQ(complaint_about(text), complaint) << text;
  for (const char* const text : {"", " \t "})
    EXPECT_EQ(complaint_about(text), "the filter is empty; tag=* captures everything");
  for (const std::string_view text : {"tag=a\nb"sv, "tag=a\x7f"sv, "tag=a\0b"sv})
    EXPECT_EQ(complaint_about(text), "a filter must be one line without control characters");
  EXPECT_EQ(complaint_about("caf\xc3\xa9").substr(0, 7), "caf\xc3\xa9: ");
  EXPECT_EQ(complaint_about(std::string(500, 'x')).substr(0, 65), std::string(60, 'x') + "..: e");
}

TEST(CaptureFilter, SaysWhatAWordTakes) {
  const struct {
    std::vector<const char*> wrong;
    const char* complaint;
  } cases[] = {
      {{"colour=red", "=red"},
       "the words are tag, slower, failed, wanted, died, share, limit, pid, service, process and "
       "kind; a label is a part of the tag, as in tag='*{*status=504*}'"},
      {{"failed=yes"}, "this word takes no value"},
      {{"slower=10", "slower=ms", "slower=-1s", "slower=.5s", "slower=5.s", "slower=1.5ns",
        "slower=1s,2s", "slower=99999999999999999999s"},
       "expected a time and its unit, ns, us, ms or s, such as slower=10ms"},
      {{"slower=0s", "slower=86401s"}, "expected a time from 1ns to 86400s"},
      {{"share=0.5", "share=0%", "share=101%", "share=0.000000001%"},
       "expected a percentage of at most 100% with at most 8 decimals, such as share=1%"},
      {{"limit=5", "limit=0/s", "limit=1000001/s"},
       "expected from 1 to 1000000 spans a second, such as limit=1000/s"},
      {{"pid=0", "pid=shop", "pid=4294967296", "pid=1,2"},
       "expected the number of one process, such as pid=4711"},
      {{"kind=points"}, "expected any of point, observe and counter, such as kind=point,observe"},
  };
  for (const auto& [wrong, complaint] : cases)
    for (const std::string word : wrong) EXPECT_EQ(complaint_about(word), word + ": " + complaint);
}

TEST(CaptureFilter, IsRefusedIfItIsTooLongOrHasTooManyPatterns) {
  const char* const complaint = "a filter must have at most 1024 bytes and 32 patterns";
  const std::string rest = " limit=1000/s";
  const std::string longest = "tag=" + std::string(kMaxFilterLength - 4 - rest.size(), 'x');
  EXPECT_EQ(canonical(longest).size(), kMaxFilterLength);
  EXPECT_EQ(complaint_about(longest + "x"), complaint);  // its canonical text is too long
  EXPECT_EQ(complaint_about("tag=x" + std::string(kMaxFilterLength, ' ')), complaint);
  std::string tags = "tag=0";
  for (int i = 1; i < 31; ++i) tags += ',' + std::to_string(i);
  EXPECT_EQ(complaint_about(tags + ",31"), "");
  EXPECT_EQ(complaint_about(tags + " service=a"), "");
  EXPECT_EQ(complaint_about(tags + " service=a process=b"), complaint);
  EXPECT_EQ(complaint_about(tags + ",31 process=b"), complaint);
  EXPECT_EQ(complaint_about(tags + ",31,32").substr(0, 8), "tag=0,1,");
}

}  // namespace
}  // namespace pcp::trace::wire
