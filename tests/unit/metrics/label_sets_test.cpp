// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/label_sets.hpp"

#include <cstring>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "metrics/pmapi.hpp"

namespace pcp::trace::agent {
namespace {

struct FreeOne {
  void operator()(pmLabelSet* set) const { pmFreeLabelSets(set, 1); }
};
using OneSet = std::unique_ptr<pmLabelSet, FreeOne>;

OneSet put_together(const LabelText& own, const LabelText& common) {
  LabelSets sets(1);
  sets.add(7, own, common);
  pmLabelSet* set = nullptr;
  EXPECT_EQ(sets.release(&set), 1);
  return OneSet(set);
}

std::string json(const LabelText& own, const LabelText& common = {}) {
  const OneSet set = put_together(own, common);
  return {set->json, set->jsonlen};
}

// Expects that PCP's own parser takes the text, and makes the same set of it.
void expect_as_pcp_makes_it(const LabelText& own, const LabelText& common = {}) {
  const OneSet ours = put_together(own, common);
  pmLabelSet* parsed = nullptr;
  ASSERT_GT(pmdaAddLabels(&parsed, "%s", ours->json), 0) << ours->json;
  const OneSet theirs(parsed);
  EXPECT_EQ(ours->inst, 7u);
  EXPECT_STREQ(ours->json, theirs->json);
  EXPECT_EQ(ours->jsonlen, theirs->jsonlen);
  EXPECT_EQ(ours->compound, theirs->compound);
  EXPECT_EQ(ours->padding, theirs->padding);
  EXPECT_EQ(ours->hash, theirs->hash);
  ASSERT_EQ(ours->nlabels, theirs->nlabels);
  const auto labels = static_cast<std::size_t>(ours->nlabels);
  EXPECT_EQ(std::memcmp(ours->labels, theirs->labels, labels * sizeof(pmLabel)), 0) << ours->json;
}

LabelText text(std::initializer_list<std::pair<const char*, std::string>> labels) {
  LabelText text;
  for (const auto& [name, value] : labels) EXPECT_TRUE(text.add(name, value)) << name;
  return text;
}

TEST(LabelSets, AreWhatPcpMakesOfTheSameText) {
  expect_as_pcp_makes_it(labels_of_tag("query"));
  expect_as_pcp_makes_it(labels_of_tag("query"), text({{"service", "shop"}}));
  expect_as_pcp_makes_it(labels_of_tag("query"),
                         text({{"zone", "eu"}, {"a", ""}, {"tagged", "x"}}));
  expect_as_pcp_makes_it(labels_of_tag(std::string(254, '"')),
                         text({{"ta", "\xff\n"}, {"Z_9", "\\"}}));
  expect_as_pcp_makes_it(text({{"b", "1"}, {"d", "2"}}),
                         text({{"e", "3"}, {"c", "4"}, {"a", "5"}}));
  LabelText most;
  for (std::size_t i = 0; i < LabelText::kMaxLabels; ++i)
    EXPECT_TRUE(most.add("l" + std::to_string(i), std::string(40, 'x')));
  expect_as_pcp_makes_it(labels_of_tag("query"), most);
  expect_as_pcp_makes_it(labels_of_tag("query"),
                         text({{"x", std::string(LabelText::kMaxBytes - 6, 'x')}}));
  expect_as_pcp_makes_it(labels_of_tag("query"),
                         text({{std::string(254, 'n').c_str(), "longest"}}));
}

TEST(LabelSets, NameTheTagEscaped) {
  EXPECT_EQ(json(labels_of_tag("query")), R"({"tag":"query"})");
  EXPECT_EQ(json(labels_of_tag("a\"b\\c")), R"({"tag":"a\"b\\c"})");
  EXPECT_EQ(json(labels_of_tag("a\nb\xff")), R"({"tag":"a\u000ab\\xff"})");
  EXPECT_EQ(json(labels_of_tag("größe")), R"({"tag":"größe"})");
}

TEST(LabelSets, NameTheLabelsOfTheTagUnescaped) {
  EXPECT_EQ(json(labels_of_tag("request{route=/cart;zone=}")),
            R"({"tag":"request","route":"/cart","zone":""})");
  EXPECT_EQ(json(labels_of_tag("a{k=%22%0A%5C}")), R"({"tag":"a","k":"\"\u000a\\"})");
  EXPECT_EQ(json(labels_of_tag("a{K=1}")), R"({"tag":"a{K=1}"})");
  EXPECT_EQ(json(labels_of_tag("a{tag=1}")), R"({"tag":"a{tag=1}"})");
  std::string most = "a{";
  for (char key = 'a'; key < 'q'; ++key) most += std::string{key} + "=%01%01%01;";
  most.back() = '}';
  expect_as_pcp_makes_it(labels_of_tag(most));
}

TEST(LabelSets, OfAProcessSayWhoItIsAsTheKernelKnowsIt) {
  ClientView client;
  client.pid = 77;
  client.uid = 1000;
  client.gid = 100;
  EXPECT_EQ(json(labels_of_process(client), text({{"service", "shop"}})),
            R"({"pid":"77","userid":"1000","groupid":"100","service":"shop"})");
  client.uid = client.gid = kUnknownUid;
  EXPECT_EQ(json(labels_of_process(client)), R"({"pid":"77"})");
}

}  // namespace
}  // namespace pcp::trace::agent
