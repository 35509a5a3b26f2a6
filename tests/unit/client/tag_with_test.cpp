// SPDX-License-Identifier: LGPL-2.1-or-later
// Tags with labels, by the calls of C.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "own_process.hpp"
#include "pcp/trace.h"
#include "tags/description.hpp"
#include "tags/tag_registry.hpp"

namespace pcp::trace::client {
namespace {

pmtrace_handle find(const char* name, const std::vector<pmtrace_label>& labels) {
  return pmtrace_tag_with(name, labels.data(), labels.size());
}

pmtrace_stats_t stats() {
  pmtrace_stats_t now{};
  pmtrace_stats(&now, sizeof now);
  return now;
}

const std::string kTooLong(255, 'x');

TEST(TagWith, IsTheTagOfItsText) {
  const pmtrace_handle tag = find("request", {{"zone", "eu"}, {"route", "/a b"}});
  ASSERT_NE(tag, nullptr);
  EXPECT_EQ(name_of(*tag), "request{route=/a%20b;zone=eu}");
  EXPECT_EQ(pmtrace_tag("request{route=/a%20b;zone=eu}"), tag);
  EXPECT_EQ(find("request", {{"route", "/a b"}, {"zone", "eu"}}), tag);
  EXPECT_EQ(pmtrace_tag_with("request", nullptr, 0), pmtrace_tag("request"));
}

TEST(TagWith, IsTheBareNameIfItIsTooLongAndSaysSoOnce) {
  const pmtrace_stats_t before = stats();
  const std::string longest(254 - std::string("long{k=}").size(), 'v');
  EXPECT_EQ(find("long", {{"k", longest.c_str()}})->length, 254u);
  EXPECT_EQ(stats().labels_cut, before.labels_cut);
  testing::internal::CaptureStderr();
  EXPECT_EQ(find("long", {{"k", (longest + 'v').c_str()}}), pmtrace_tag("long"));
  EXPECT_EQ(find("long", {{"k", std::string(10'000, 'v').c_str()}}), pmtrace_tag("long"));
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "pcp_trace: \"long\" with its labels is longer than 254 bytes: recorded without them\n");
  EXPECT_EQ(stats().labels_cut, before.labels_cut + 2);
}

using Labels = std::vector<pmtrace_label>;

void expect_refused(const char* name, const Labels& labels, const std::string& said) {
  const auto find_twice = [&] {
    return find(name, labels) == nullptr && find(name, labels) == nullptr;
  };
  expect_said(find_twice, "pcp_trace: " + said + '\n');
}

TEST(TagWith, IsRefusedForWhatIsNoLabelAndSaysWhy) {
  for (const std::string bad : {"http-route", "Route", "", "9a", "_a"})
    expect_refused("r", {{"a", "1"}, {bad.c_str(), "1"}},
                   "\"r\" is not traced: label \"" + bad + "\" is not \\[a-z]\\[a-z0-9_]\\*");
  const std::pair<Labels, std::string> refused[] = {
      {{{"hostname", "1"}}, "label \"hostname\" is reserved by PCP"},
      {{{"a", "1"}, {"b", "1"}, {"a", "2"}}, "label \"a\" is given twice"},
      {{{"a", nullptr}}, "label \"a\" has no value"},
      {{{nullptr, "1"}}, "a label has no name"},
      {Labels(17, {"a", "1"}), "17 labels, at most 16"}};
  for (const auto& [labels, why] : refused)
    expect_refused("r", labels, "\"r\" is not traced: " + why);
  const std::pair<const char*, std::string> no_tags[] = {
      {"", "\"\""}, {nullptr, "\"\""}, {kTooLong.c_str(), "\"x*\""}};
  for (const auto& [name, shown] : no_tags)
    expect_refused(name, {{"a", "1"}}, shown + " is not traced: a tag must have 1 to 254 bytes");
  EXPECT_EQ(pmtrace_tag_with("refused", nullptr, 1), nullptr);
}

// Labels of one letter each.
struct ShortLabels {
  ShortLabels(char first, char last) {
    for (char c = first; c <= last; ++c) keys.emplace_back(1, c);
    for (const std::string& key : keys) labels.push_back({key.c_str(), ""});
  }
  std::vector<std::string> keys;
  Labels labels;
};

pmtrace_handle add(pmtrace_handle tag, const std::vector<pmtrace_label>& labels) {
  return pmtrace_tag_add_labels(tag, labels.data(), labels.size());
}

TEST(TagAddLabels, GivesTheTagWithAllLabelsAndTheLastValueOfEach) {
  pmtrace_point(pmtrace_tag("a thread that knows labels"));
  const pmtrace_handle request = find("request", {{"zone", "eu"}, {"status", "a b"}});
  for (int time = 0; time < 2; ++time) {  // looked up, then known
    EXPECT_EQ(add(pmtrace_tag("request"), {{"zone", "eu"}}), pmtrace_tag("request{zone=eu}"));
    EXPECT_EQ(add(request, {{"route", "/"}, {"status", "500"}, {"status", "504"}}),
              pmtrace_tag("request{route=/;status=504;zone=eu}"));
    EXPECT_EQ(add(request, {}), request);
    // The same bytes, split differently; and more of them than a thread remembers.
    EXPECT_EQ(add(request, {{"a", "b"}, {"c", "d"}}),
              pmtrace_tag("request{a=b;c=d;status=a%20b;zone=eu}"));
    EXPECT_EQ(add(request, {{"a", "bc"}, {"d", ""}}),
              pmtrace_tag("request{a=bc;d=;status=a%20b;zone=eu}"));
    const std::string longer(60, 'v');
    EXPECT_EQ(add(request, {{"a", longer.c_str()}}),
              pmtrace_tag(("request{a=" + longer + ";status=a%20b;zone=eu}").c_str()));
  }
}

TEST(TagAddLabels, FindsEachOfMoreTagsThanAThreadRemembers) {
  pmtrace_point(pmtrace_tag("a thread that knows labels"));
  for (int time = 0; time < 2; ++time)
    for (int i = 0; i < 500; ++i) {
      const std::string number = std::to_string(i);
      EXPECT_EQ(add(pmtrace_tag("numbered"), {{"i", number.c_str()}}),
                pmtrace_tag(("numbered{i=" + number + '}').c_str()));
    }
}

TEST(TagAddLabels, SaysOnceWhatIsWrongAndThatLabelsAreMissing) {
  EXPECT_NE(find("most", ShortLabels('a', 'p').labels), nullptr);
  const ShortLabels too_many('b', 'q');
  const std::pair<Labels, std::string> refused[] = {
      {{{"Route", "1"}}, "label \"Route\" is not .*"},
      {{{"b", nullptr}}, "label \"b\" has no value"},
      {{{"b", "1"}, {"b", "2"}, {"Bad", "1"}}, "label \"Bad\" is not .*"},
      {too_many.labels, "17 labels, at most 16"}};
  for (const auto& [wrong, why] : refused)
    expect_said(
        [&labels = wrong] {
          const pmtrace_handle tag = find("r", {{"a", "1"}});
          return add(tag, labels) == nullptr && add(tag, labels) == nullptr && has_folded_labels();
        },
        "pcp_trace: \"r\\{a=1\\}\" gets no more labels: " + why + '\n');
}

TEST(TagAddLabels, GivesTheTagsDescriptionToTheNewOne) {
  const pmtrace_handle request = pmtrace_tag("described");
  pmtrace_describe(request, "s", "what it takes");
  const TagDescription* const given = description_of(*add(request, {{"status", "200"}}));
  ASSERT_NE(given, nullptr);
  EXPECT_EQ(given->unit, "s");
  EXPECT_EQ(given->text, "what it takes");
  EXPECT_EQ(description_of(*add(pmtrace_tag("plain"), {{"status", "200"}})), nullptr);
}

TEST(EndAs, WithoutATagEndsUnderItsOwnAndSaysThatLabelsAreMissing) {
  const int state = pmtracestate(PMTRACE_STATE_NONE);  // whatever other tests have left
  pmtrace_tx tx;
  ASSERT_EQ(pmtrace_begin(pmtrace_tag("ended"), &tx), 0);
  EXPECT_EQ(pmtrace_end_as(&tx, nullptr), PMTRACE_ERR_TAGNAME);
  EXPECT_EQ(tx.opaque[0], 0u);
  EXPECT_TRUE(has_folded_labels());
  pmtracestate(state);
}

TEST(TagAddLabels, CountsEachLookUpWithoutRoom) {
  pmtrace_point(pmtrace_tag("a thread that knows labels"));
  const std::string too_long(254, 'v');
  const pmtrace_handle tag = pmtrace_tag("cut");
  const pmtrace_stats_t before = stats();
  testing::internal::CaptureStderr();
  for (int time = 0; time < 2; ++time) EXPECT_EQ(add(tag, {{"k", too_long.c_str()}}), tag);
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(stats().labels_cut, before.labels_cut + 2);
}

// A thousand sets, unless the environment says otherwise.
TEST(TagWith, IsTheBareNameBeyondTheSetsOfLabelsThatANameMayHave) {
  const pmtrace_stats_t before = stats();
  testing::internal::CaptureStderr();
  for (int i = 0; i < 1000; ++i)
    EXPECT_NE(find("many", {{"i", std::to_string(i).c_str()}}), pmtrace_tag("many"));
  EXPECT_EQ(stats().labels_over, before.labels_over);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  testing::internal::CaptureStderr();
  EXPECT_EQ(find("many", {{"i", "new"}}), pmtrace_tag("many"));
  EXPECT_EQ(pmtrace_tag("many{text=1}"), pmtrace_tag("many"));
  EXPECT_EQ(stats().labels_over, before.labels_over + 2);
  EXPECT_NE(find("other", {{"i", "new"}}), pmtrace_tag("other"));
  EXPECT_EQ(name_of(*find("many", {{"i", "7"}})), "many{i=7}");  // known before
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.find("pcp_trace: \"many\" has more than 1000 label sets: "), 0u) << said;
  EXPECT_EQ(said.find('\n'), said.size() - 1) << said;
}

}  // namespace
}  // namespace pcp::trace::client
