// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metrics/label_budget.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "metrics/label_sets.hpp"

namespace pcp::trace::agent {
namespace {

// Processes with some instances each, and the numbers of instances that show their labels.
class LabelBudgetTest : public testing::Test {
 protected:
  // A process whose labels take so many bytes for each instance.
  const Origin& process(const std::string& owner, std::size_t bytes) {
    return session(owner, ++last_pid_, bytes);
  }
  const Origin& session(const std::string& owner, std::uint32_t pid, std::size_t bytes) {
    constexpr std::size_t kAround = 1 + 6 + sizeof(LabelText::Label);  // comma, "x":""
    auto origin = std::make_unique<Origin>(Origin{owner, pid, {}});
    EXPECT_TRUE(origin->labels.add("x", std::string(bytes - kAround, 'x')));
    return *processes_.emplace_back(std::move(origin));
  }

  std::vector<int> shown(LabelBudget budget,
                         const std::vector<std::pair<const Origin*, int>>& instances) {
    for (const auto& [origin, count] : instances)
      for (int i = 0; i < count; ++i) budget.want(*origin, bytes_of_labels(*origin));
    budget.share_out();
    std::vector<int> shown;
    int left_out = 0;
    for (const auto& [origin, count] : instances) {
      shown.push_back(0);
      for (int i = 0; i < count; ++i)
        ++(budget.takes(*origin, bytes_of_labels(*origin)) ? shown.back() : left_out);
    }
    EXPECT_EQ(budget.left_out(), static_cast<std::size_t>(left_out));
    return shown;
  }

  std::vector<std::unique_ptr<Origin>> processes_;
  std::uint32_t last_pid_ = 0;
};

TEST_F(LabelBudgetTest, IsEnoughForAHundredThousandTagsOfOneProcess) {
  EXPECT_EQ(shown(LabelBudget(), {{&process("uid 1", 160), 100'000}}), std::vector{100'000});
}

TEST_F(LabelBudgetTest, EndsAProcessesLabelsWhereItsShareEnds) {
  EXPECT_EQ(shown(LabelBudget(1000), {{&process("uid 1", 100), 11}}), std::vector{10});
  EXPECT_EQ(shown(LabelBudget(99), {{&process("uid 1", 100), 11}}), std::vector{0});
}

TEST_F(LabelBudgetTest, SaysWhatIsLeft) {
  const Origin& origin = process("uid 1", 100);
  LabelBudget budget(2000);
  for (int i = 0; i < 10; ++i) budget.want(origin, 250);
  budget.share_out();
  int shown = 0;
  for (int i = 0; i < 7; ++i) shown += budget.takes(origin, 250) ? 1 : 0;
  EXPECT_EQ(shown, 7);
  EXPECT_EQ(budget.left(), 250u);
  EXPECT_TRUE(budget.takes(origin, 250));
  EXPECT_FALSE(budget.takes(origin, 250));
  EXPECT_EQ(budget.left(), 0u);
}

TEST_F(LabelBudgetTest, LeavesAModestProcessWhatItWantsBesideAGreedyOne) {
  const Origin& greedy = process("uid 1", 100);
  const Origin& modest = process("uid 1", 20);
  EXPECT_EQ(shown(LabelBudget(1000), {{&greedy, 1000}, {&modest, 10}}), (std::vector{8, 10}));
}

TEST_F(LabelBudgetTest, GivesUsersEqualPartsHoweverManyProcessesTheyHave) {
  std::vector<std::pair<const Origin*, int>> instances;
  for (int i = 0; i < 50; ++i) instances.emplace_back(&process("uid 1", 100), 10);
  instances.emplace_back(&process("uid 2", 100), 5);
  const std::vector<int> counts = shown(LabelBudget(1000), instances);
  EXPECT_EQ(counts.back(), 5);
  int of_the_crowd = 0;
  for (std::size_t i = 0; i < 50; ++i) of_the_crowd += counts[i];
  EXPECT_EQ(of_the_crowd, 5);  // parts too small for one instance are not lost
}

TEST_F(LabelBudgetTest, GivesProcessesEqualPartsHoweverManySessionsTheyHave) {
  std::vector<std::pair<const Origin*, int>> instances;
  for (int i = 0; i < 50; ++i) instances.emplace_back(&session("uid 1", 4711, 100), 10);
  instances.emplace_back(&process("uid 1", 100), 5);
  EXPECT_EQ(shown(LabelBudget(1000), instances).back(), 5);
}

TEST_F(LabelBudgetTest, GivesAllToSessionsOfDifferentSizesIfThereIsEnough) {
  const Origin& large = session("uid 1", 4711, 100);
  const Origin& small = session("uid 1", 4711, 30);
  EXPECT_EQ(shown(LabelBudget(1030), {{&large, 10}, {&small, 1}}), (std::vector{10, 1}));
}

}  // namespace
}  // namespace pcp::trace::agent
