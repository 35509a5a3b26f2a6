// SPDX-License-Identifier: LGPL-2.1-or-later
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "mmv/mmv_file.hpp"
#include "mmv/mmv_totals.hpp"
#include "mmv/mmv_window.hpp"
#include "support/scratch_directory.hpp"
#include "tags/tag_registry.hpp"

namespace pcp::trace::client {
namespace {

constexpr std::uint64_t kPart = 1000;

TEST(MmvWindow, HasNothingAtFirst) {
  const MmvWindow::Values none = MmvWindow().values(kPart);
  EXPECT_TRUE(std::isnan(none.min) && std::isnan(none.max) && std::isnan(none.quantiles[0]));
}

TEST(MmvWindow, OfOneValueHasItEverywhere) {
  MmvWindow window;
  window.add(1.01, kPart);
  const MmvWindow::Values values = window.values(kPart);
  EXPECT_EQ(values.min, 1.01);
  EXPECT_EQ(values.max, 1.01);
  for (const double quantile : values.quantiles) EXPECT_EQ(quantile, 1.01);
}

TEST(MmvWindow, HasExactExtremaAndPercentilesWithinTwoPercent) {
  MmvWindow window;
  for (int i = 1; i <= 1000; ++i) window.add(i, kPart + static_cast<std::uint64_t>(i % 5));
  const MmvWindow::Values values = window.values(kPart + 4);
  EXPECT_EQ(values.min, 1);
  EXPECT_EQ(values.max, 1000);
  const double truth[] = {500, 900, 950, 990, 999};
  for (std::size_t i = 0; i < std::size(truth); ++i)
    EXPECT_NEAR(values.quantiles[i], truth[i], truth[i] * 0.02);
}

TEST(MmvWindow, MovesOn) {
  MmvWindow window;
  window.add(1, kPart);
  window.add(2, kPart + 4);
  EXPECT_EQ(window.values(kPart + 4).min, 1);
  EXPECT_EQ(window.values(kPart + 5).min, 2);
  EXPECT_TRUE(window.has_values(kPart + 8));
  EXPECT_FALSE(window.has_values(kPart + 9));
  EXPECT_TRUE(std::isnan(window.values(kPart + 9).max));
  window.add(3, kPart + 10);  // in the memory of the first part
  EXPECT_EQ(window.values(kPart + 10).min, 3);
}

TEST(MmvWindow, HasNoPercentilesOfValuesThatWereAddedUp) {
  MmvWindow window;
  Delta delta;
  delta.add(3);
  delta.add(7);
  window.add(delta, kPart);
  const MmvWindow::Values values = window.values(kPart);
  EXPECT_EQ(values.min, 3);
  EXPECT_EQ(values.max, 7);
  EXPECT_TRUE(std::isnan(values.quantiles[0]));
}

struct MmvTotalsTest : testing::Test {
  MmvTotals totals;
  std::uint64_t now = kPart * MmvWindow::kPartNs;

  void add(const std::string& tag, double value, RecordKind kind) {
    const std::vector<Pending::Fetched> one{{nullptr, {intern_tag(tag), value, kind}}};
    totals.make_room(1);
    totals.add(one, now);
  }
};

TEST_F(MmvTotalsTest, AreApartForEachTagAndType) {
  add("mmv a", 3, RecordKind::Observe);
  add("mmv a", 0, RecordKind::Point);
  add("mmv b", 0, RecordKind::Point);
  add("mmv b", 0, RecordKind::Point);
  ASSERT_EQ(totals.instances().size(), 3U);
  EXPECT_EQ(totals.instances()[0].calls.since_start.sum, 3);
  EXPECT_EQ(totals.instances()[2].calls.since_start.count, 2U);
}

TEST_F(MmvTotalsTest, HaveWhatWasReportedOfACounterAndWhatWasAddedToIt) {
  add("mmv counter", 5, RecordKind::Counter);
  add("mmv counter", 2, RecordKind::Add);
  add("mmv counter", 4, RecordKind::Add);
  ASSERT_EQ(totals.instances().size(), 1U);
  EXPECT_EQ(totals.instances()[0].calls.since_start.last, 5);
  EXPECT_EQ(totals.instances()[0].added.sum, 6);
}

TEST_F(MmvTotalsTest, KeepFailuresApart) {
  add("mmv failing", 1, RecordKind::Transact);
  add("mmv failing", 3, RecordKind::Abort);
  add("mmv failing", 5, RecordKind::Abort);
  totals.refresh(now);
  ASSERT_EQ(totals.instances().size(), 1U);
  const MmvInstance& instance = totals.instances()[0];
  EXPECT_EQ(instance.calls.since_start.sum, 1);
  EXPECT_EQ(instance.calls.in_window.max, 1);
  EXPECT_EQ(instance.failed.since_start.count, 2U);
  EXPECT_EQ(instance.failed.since_start.sum, 8);
  EXPECT_EQ(instance.failed.in_window.min, 3);
  EXPECT_EQ(instance.failed.in_window.max, 5);
  EXPECT_NEAR(instance.failed.in_window.quantiles.back(), 5, 0.1);
}

TEST_F(MmvTotalsTest, TakeOneInstanceOfATypeForAllTagsBeyondAThousand) {
  for (std::size_t i = 0; i < MmvTotals::kMostInstances + 10; ++i)
    add("mmv " + std::to_string(i), 0, RecordKind::Point);
  add("mmv beyond", 1, RecordKind::Observe);
  add("mmv 5", 0, RecordKind::Point);
  ASSERT_EQ(totals.instances().size(), MmvTotals::kMostInstances + 2);
  const MmvInstance& points = totals.instances()[MmvTotals::kMostInstances];
  EXPECT_EQ(points.tag, nullptr);
  EXPECT_EQ(points.calls.since_start.count, 10U);
  EXPECT_EQ(totals.instances()[5].calls.since_start.count, 2U);
}

TEST_F(MmvTotalsTest, ComputeTheirWindowsFewAtATimeAndAgainWhenTheyMoveOn) {
  for (int i = 0; i < 100; ++i) add("mmv " + std::to_string(i), 1, RecordKind::Observe);
  const auto computed = [this] {
    int count = 0;
    for (const MmvInstance& each : totals.instances())
      count += std::isnan(each.calls.in_window.max) ? 0 : 1;
    return count;
  };
  int calls = 0;
  do {
    const int before = computed();
    totals.refresh(now);
    EXPECT_LT(computed() - before, 50);
    ++calls;
  } while (totals.next_refresh_ns(now) < now + MmvWindow::kPartNs / 2);
  EXPECT_EQ(computed(), 100);
  EXPECT_GT(calls, 2);
  EXPECT_EQ(totals.next_refresh_ns(now), now + MmvWindow::kPartNs);
  now += MmvWindow::kParts * MmvWindow::kPartNs;
  for (int i = 0; i < calls; ++i) totals.refresh(now);
  EXPECT_EQ(computed(), 0);
  EXPECT_EQ(totals.next_refresh_ns(now), kNever);
}

class MmvFileTest : public testing::Test {
 protected:
  // In a namespace of process ids of its own, as a container's, a process has its number, too.
  static std::string own_process() {
    constexpr ino_t kMachines = 0xEFFF'FFFC;
    struct stat its {};
    EXPECT_EQ(::stat("/proc/self/ns/pid", &its), 0);
    return std::to_string(::getpid()) +
           (its.st_ino == kMachines ? "" : '@' + std::to_string(its.st_ino));
  }
  std::string path(const std::string& process = own_process()) const {
    return directory_ + "/shop_" + process;
  }
  void leave(const std::string& name, const std::string& text = "theirs") const {
    std::ofstream(directory_ + '/' + name) << text;
  }

  static std::vector<MmvInstance> instances(std::initializer_list<const char*> tags) {
    std::vector<MmvInstance> all;
    for (const char* tag : tags) {
      all.emplace_back();
      all.back().type = TraceType::Point;
      if (*tag != '\0') all.back().tag = intern_tag(tag);
    }
    return all;
  }

  // The file's instances: names, without the process, and numbers.
  std::map<std::string, std::int32_t> numbers(std::initializer_list<const char*> tags) {
    MmvFile file(directory_, "shop", "", descriptors_);
    EXPECT_EQ(file.replace(instances(tags)), 0);
    std::ifstream stream(path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    const auto at = [&bytes](std::size_t offset, auto number) {
      std::memcpy(&number, bytes.data() + offset, sizeof number);
      return number;
    };
    constexpr std::size_t kHeader = 40, kSection = 16, kInstance = 24;
    const std::size_t section = kHeader + kSection;  // the second: instances
    std::map<std::string, std::int32_t> all;
    for (std::uint32_t i = 0; i < at(section + 4, std::uint32_t{}); ++i) {
      const std::size_t instance = at(section + 8, std::uint64_t{}) + i * kInstance;
      const std::string name = bytes.data() + at(instance + 16, std::uint64_t{});
      all[name.substr(name.find('/') + 1)] = at(instance + 12, std::int32_t{});
    }
    return all;
  }

  const ScratchDirectory scratch_;
  const std::string directory_ = scratch_.path();
  std::array<OwnDescriptor, 2> descriptors_;
};

// After exec a process has the same id, and other tags.
TEST_F(MmvFileTest, ATagHasItsOwnNumberWhateverElseIsThere) {
  const auto before = numbers({"buy", "sell"});
  const auto after = numbers({"open", "sell", "buy"});
  EXPECT_EQ(after.at("buy"), before.at("buy"));
  EXPECT_EQ(after.at("sell"), before.at("sell"));
  EXPECT_NE(after.at("open"), before.at("buy"));
}

TEST_F(MmvFileTest, InstancesDifferInTheirFirstWords) {
  const std::string cut(253, 'x');
  const auto all = numbers({"read log", "read page", "c\001d", "c?d", "", "(overflow)",
                            (cut + 'a').c_str(), (cut + 'b').c_str()});
  std::map<std::string, int> words;
  for (const auto& [name, number] : all) ++words[name.substr(0, name.find(' '))];
  EXPECT_EQ(words.size(), 8U);
  EXPECT_EQ(all.count("read log"), 1U);
  const auto other = all.upper_bound("read#");
  EXPECT_EQ(other->first, "read#" + std::to_string(other->second) + " page");
}

TEST_F(MmvFileTest, OtherFilesStayWhateverTheirNames) {
  const std::string nobody = "999999999";
  leave("shop_" + nobody);
  leave(".shop_" + nobody);
  leave("shop_" + nobody + "@17");
  MmvFile(directory_, "shop", "", descriptors_).remove_dead();
  EXPECT_TRUE(std::filesystem::exists(path(nobody)));
  EXPECT_TRUE(std::filesystem::exists(directory_ + "/.shop_" + nobody));
  EXPECT_TRUE(std::filesystem::exists(path(nobody + "@17")));
  leave("shop_" + own_process());
  EXPECT_EQ(MmvFile(directory_, "shop", "", descriptors_).replace(instances({"buy"})), EEXIST);
}

TEST_F(MmvFileTest, KnowsWhetherItIsStillThere) {
  MmvFile file(directory_, "shop", "", descriptors_);
  ASSERT_EQ(file.replace(instances({"buy"})), 0);
  EXPECT_TRUE(file.is_in_place());
  std::filesystem::remove(path());
  EXPECT_FALSE(file.is_in_place());
  leave("shop_" + own_process());
  file.remove();
  EXPECT_TRUE(std::filesystem::exists(path()));
}

}  // namespace
}  // namespace pcp::trace::client
