// SPDX-License-Identifier: LGPL-2.1-or-later
// Tags with labels as C asks for them.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pcp/trace.h"
#include "record/tag_registry.hpp"

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

TEST(TagWith, IsTheTagOfItsText) {
  const pmtrace_handle tag = find("request", {{"zone", "eu"}, {"route", "/a b"}});
  ASSERT_NE(tag, nullptr);
  EXPECT_EQ(name_of(*tag), "request{route=/a%20b;zone=eu}");
  EXPECT_EQ(pmtrace_tag("request{route=/a%20b;zone=eu}"), tag);
  EXPECT_EQ(find("request", {{"route", "/a b"}, {"zone", "eu"}}), tag);
  EXPECT_EQ(pmtrace_tag_with("request", nullptr, 0), pmtrace_tag("request"));
}

TEST(TagWith, IsTheBareNameIfItIsTooLong) {
  const pmtrace_stats_t before = stats();
  const std::string longest(254 - std::string("long{k=}").size(), 'v');
  EXPECT_EQ(find("long", {{"k", longest.c_str()}})->length, 254u);
  EXPECT_EQ(stats().labels_cut, before.labels_cut);
  EXPECT_EQ(find("long", {{"k", (longest + 'v').c_str()}}), pmtrace_tag("long"));
  EXPECT_EQ(find("long", {{"k", std::string(10'000, 'v').c_str()}}), pmtrace_tag("long"));
  EXPECT_EQ(stats().labels_cut, before.labels_cut + 2);
}

TEST(TagWith, IsRefusedForWhatIsNoLabelAndSaysSoOnce) {
  std::vector<std::string> keys;
  for (char c = 'a'; c <= 'q'; ++c) keys.emplace_back(1, c);
  std::vector<pmtrace_label> many;
  for (const std::string& key : keys) many.push_back({key.c_str(), ""});
  ASSERT_EQ(many.size(), 17u);
  testing::internal::CaptureStderr();
  EXPECT_EQ(find("refused", {{"Route", "/cart"}}), nullptr);
  EXPECT_EQ(find("refused", {{"userid", "0"}}), nullptr);
  EXPECT_EQ(find("refused", {{"a", "1"}, {"a", "2"}}), nullptr);
  EXPECT_EQ(find("refused", {{"a", nullptr}}), nullptr);
  EXPECT_EQ(find("refused", {{nullptr, "1"}}), nullptr);
  EXPECT_EQ(find("refused", many), nullptr);
  EXPECT_EQ(find("", {{"a", "1"}}), nullptr);
  EXPECT_EQ(find(nullptr, {{"a", "1"}}), nullptr);
  EXPECT_EQ(find(std::string(255, 'x').c_str(), {{"a", "1"}}), nullptr);
  EXPECT_EQ(pmtrace_tag_with("refused", nullptr, 1), nullptr);
  many.pop_back();
  EXPECT_NE(find("refused", many), nullptr);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.find("pcp_trace: \"refused\" with labels is not traced: "), 0u) << said;
  EXPECT_EQ(said.find('\n'), said.size() - 1) << said;
}

// A thousand, if the environment does not say otherwise.
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
  EXPECT_EQ(said.find("pcp_trace: \"many\" has too many sets of labels"), 0u) << said;
  EXPECT_EQ(said.find('\n'), said.size() - 1) << said;
}

}  // namespace
}  // namespace pcp::trace::client
