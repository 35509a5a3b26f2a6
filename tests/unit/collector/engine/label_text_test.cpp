// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/label_text.hpp"

#include <gtest/gtest.h>

namespace pcp::trace::agent {
namespace {

TEST(LabelText, IsMembersOfAJsonObject) {
  LabelText labels;
  EXPECT_TRUE(labels.add("service", "shop"));
  EXPECT_TRUE(labels.add("zone", "  a\"b\\\n\xff\x7f\u0085"));
  EXPECT_FALSE(labels.add("zone", "another value"));
  EXPECT_EQ(labels.members(), R"("service":"shop","zone":"  a\"b\\\u000a\\xff\u007f\\xc2\\x85")");
}

TEST(LabelText, IsCutBetweenCharacters) {
  LabelText labels;
  EXPECT_TRUE(labels.add("a", "\n\n\n\n", 4));
  EXPECT_TRUE(labels.add("b", "\n\n\n\n\n", 4));
  EXPECT_TRUE(labels.add("c", "xxö", 4));
  EXPECT_TRUE(labels.add("d", "öxxx", 4));
  EXPECT_EQ(labels.members(),
            R"("a":"\u000a\u000a\u000a\u000a","b":"\u000a...","c":"xxö","d":"...")");
}

TEST(LabelText, KnowsTheNamesInTheirOrder) {
  LabelText labels;
  for (const char* name : {"b", "ab", "B", "a", "b_"}) labels.add(name, "");
  std::string names;
  for (const auto& label : labels.labels()) names.append(labels.name_of(label)).append(" ");
  EXPECT_EQ(names, "B a ab b b_ ");
}

TEST(LabelText, KnowsWhatItHasInCommonWithAnother) {
  const auto text = [](std::initializer_list<std::pair<const char*, const char*>> labels) {
    LabelText made;
    for (const auto& [name, value] : labels) made.add(name, value);
    return made;
  };
  const LabelText labels = text({{"z", "1"}, {"a", "2"}, {"m", "\n"}});
  const LabelText other = text({{"m", "\n"}, {"z", "2"}, {"b", ""}});
  EXPECT_EQ(labels.part(labels.in_common_with(other)).members(), R"("m":"\u000a")");
  EXPECT_EQ(labels.part(labels.not_named_in(other)).members(), R"("a":"2")");
  EXPECT_EQ(labels.part(labels.all()).members(), R"("a":"2","m":"\u000a","z":"1")");
  LabelText sum = other;
  sum.add(labels);
  EXPECT_EQ(sum.members(), R"("m":"\u000a","z":"2","b":"","a":"2")");
}

TEST(LabelText, LeavesOutWhatIsTooMuch) {
  LabelText labels;
  EXPECT_FALSE(labels.add("huge", std::string(LabelText::kMaxBytes, 'x')));
  EXPECT_FALSE(labels.add("huge", std::string(LabelText::kMaxBytes / 4, '\x01')));
  EXPECT_TRUE(labels.add("zone", "eu"));
  for (std::size_t i = 1; i < LabelText::kMaxLabels; ++i)
    EXPECT_TRUE(labels.add("l" + std::to_string(i), ""));
  EXPECT_FALSE(labels.add("more", ""));
  EXPECT_EQ(labels.labels().size(), LabelText::kMaxLabels);
}

}  // namespace
}  // namespace pcp::trace::agent
