// SPDX-License-Identifier: LGPL-2.1-or-later
#include <cstdlib>

#include "metrics/label_budget.hpp"
#include "unit/metrics/metrics_fixture.hpp"

namespace pcp::trace::agent {
namespace {

class Instances : public MetricsFixture {
 protected:
  static constexpr int kAny = static_cast<int>(PM_IN_NULL);

  using Names = std::map<int, std::string>;

  Names all(unsigned serial) {
    pmInResult* result = nullptr;
    EXPECT_EQ(metrics_.instances(indom(serial), kAny, nullptr, &result, now_), 0);
    Names names;
    for (int i = 0; i < result->numinst; ++i) {
      names[result->instlist[i]] = result->namelist[i];
      std::free(result->namelist[i]);
    }
    std::free(result->namelist);
    std::free(result->instlist);
    std::free(result);
    return names;
  }

  // Gives the number, or a PCP error.
  int number_of(const char* name) {
    pmInResult* result = nullptr;
    const int status = metrics_.instances(indom(1), kAny, name, &result, now_);
    if (status < 0) return status;
    const int number = result->instlist[0];
    EXPECT_EQ(result->namelist, nullptr);
    std::free(result->instlist);
    std::free(result);
    return number;
  }

  std::string name_of(int number) {
    pmInResult* result = nullptr;
    if (metrics_.instances(indom(1), number, nullptr, &result, now_) == PM_ERR_INST) return "none";
    const std::string name = result->namelist[0];
    EXPECT_EQ(result->instlist, nullptr);
    std::free(result->namelist[0]);
    std::free(result->namelist);
    std::free(result);
    return name;
  }

  void point(std::string_view tag) { apply(TraceType::Point, tag, -1); }
};

TEST_F(Instances, AppearInOrderOfArrival) {
  EXPECT_EQ(all(1), Names{});
  point("b");
  EXPECT_EQ(all(1), (Names{{1, "b"}}));
  point("a");
  EXPECT_EQ(all(1), (Names{{1, "b"}, {2, "a"}}));
  EXPECT_EQ(all(0), Names{});
}

TEST_F(Instances, AreFoundByNumberAndByTheirWholeNameOrItsFirstWord) {
  point("read me");
  point("read you");
  EXPECT_EQ(name_of(1), "read me");
  EXPECT_EQ(name_of(3), "none");
  EXPECT_EQ(number_of("read me"), 1);
  EXPECT_EQ(number_of("read"), 1);
  EXPECT_EQ(number_of("read#2 you"), 2);
  EXPECT_EQ(number_of("read#2"), 2);
  EXPECT_EQ(number_of("read you"), PM_ERR_INST);
  EXPECT_EQ(number_of("rea"), PM_ERR_INST);
}

TEST_F(Instances, GoWithAResetAndComeBackUnderTheirNumbers) {
  point("a");
  point("b");
  EXPECT_EQ(all(1).size(), 2);
  shared_.engine.reset(now_);
  EXPECT_EQ(all(1), Names{});
  EXPECT_EQ(number_of("b"), PM_ERR_INST);
  point("b");
  EXPECT_EQ(all(1), (Names{{2, "b"}}));
}

TEST_F(Instances, BelongToKnownDomainsOnly) {
  pmInResult* result = nullptr;
  EXPECT_EQ(metrics_.instances(indom(5), kAny, nullptr, &result, now_), PM_ERR_INDOM);
}

class Labels : public MetricsFixture {
 protected:
  static constexpr int kMostTags = 60'000;
  Labels() : MetricsFixture(kMostTags) {}

  using Sets = std::map<int, std::string>;
  static constexpr int kAll = static_cast<int>(PM_IN_NULL);

  Sets labels(Metrics& metrics, int identifier, int type) {
    pmLabelSet* sets = nullptr;
    const int count = metrics.labels(identifier, type, &sets, now_);
    Sets labels;
    for (int i = 0; i < count; ++i)
      labels[static_cast<int>(sets[i].inst)] = std::string(sets[i].json, sets[i].jsonlen);
    if (sets) pmFreeLabelSets(sets, count);
    return labels;
  }
  Sets labels_of_instances(unsigned domain) {
    return labels(metrics_, static_cast<int>(indom(domain)), PM_LABEL_INSTANCES);
  }

  TagIndex point(const std::string& tag) {
    apply(TraceType::Point, tag, -1);
    return shared_.engine.tag(TraceType::Point, tag);
  }
  static std::shared_ptr<const LabelText> text_of(
      const std::vector<std::pair<std::string, std::string>>& labels) {
    LabelText text;
    for (const auto& [name, value] : labels) text.add(name, value);
    return std::make_shared<const LabelText>(text);
  }

  static std::shared_ptr<const Origin> shop() {
    Origin origin{"uid 1", {}};
    origin.labels.add("service", "shop");
    origin.labels.add("zone", "eu");
    return std::make_shared<const Origin>(origin);
  }
};

TEST_F(Labels, NameTheAgentAndTheTypes) {
  EXPECT_EQ(labels(metrics_, kDomain, PM_LABEL_DOMAIN), (Sets{{kAll, R"({"agent":"trace"})"}}));
  EXPECT_EQ(labels(metrics_, static_cast<int>(indom(1)), PM_LABEL_INDOM),
            (Sets{{kAll, R"({"trace_type":"point"})"}}));
}

TEST_F(Labels, OfATagWinOverItsDescriptionAndThisOverWhatAProgramSaysOfItself) {
  auto description = text_of({{"unit", "ms"}, {"service", "described"}});
  for (const char* name : {"b{unit=own;zone=us}", "c"}) {
    const TagIndex tag = point(name);
    shared_.engine.note_origin(tag, shop());
    shared_.engine.describe(tag, description);
  }
  EXPECT_EQ(labels_of_instances(1),
            (Sets{{1, R"({"tag":"b","unit":"own","zone":"us","service":"described"})"},
                  {2, R"({"tag":"c","service":"described","unit":"ms","zone":"eu"})"}}));
}

TEST_F(Labels, ThatAreStableAreThoseOfTheNameOnly) {
  const TagIndex tag = point("b{route=/x}");
  shared_.engine.note_origin(tag, shop());
  auto description = text_of({{"unit", "ms"}});
  shared_.engine.describe(tag, description);
  Metrics stable({kDomain, {}, 4323, true}, reader_, now_);
  EXPECT_EQ(labels(stable, static_cast<int>(indom(1)), PM_LABEL_INSTANCES),
            (Sets{{1, R"({"tag":"b","route":"/x"})"}}));
}

TEST_F(Labels, OfProcessesHaveThePidAndWhatItSays) {
  ClientView view;
  view.pid = 77;
  view.origin = shop();
  view.connected_at = now_;
  shared_.clients[1] = view;
  now_ += std::chrono::seconds(6);
  EXPECT_EQ(labels_of_instances(kClientIndom),
            (Sets{{77, R"({"pid":"77","service":"shop","zone":"eu"})"}}));
}

TEST_F(Labels, ThatAnAnswerHasNoRoomForAreCountedAndThePidStays) {
  Origin huge{"uid 1", {}};
  ASSERT_TRUE(huge.labels.add("x", std::string(4000, 'x')));
  ClientView view;
  view.origin = std::make_shared<const Origin>(huge);
  view.connected_at = now_;
  for (view.pid = 1; view.pid <= 5000; ++view.pid) shared_.clients[view.pid] = view;
  now_ += std::chrono::seconds(6);

  const Sets sets = labels_of_instances(kClientIndom);
  ASSERT_EQ(sets.size(), 5000u);
  std::size_t bytes = 0;
  double without = 0;
  for (const auto& [number, json] : sets) {
    EXPECT_TRUE(json.starts_with("{\"pid\":\"" + std::to_string(number) + '"'));
    if (json.size() < 100) ++without;
    bytes += json.size();
  }
  EXPECT_LT(bytes, LabelBudget::kMaxBytes + 5000 * 20);
  EXPECT_GT(bytes, LabelBudget::kMaxBytes - 5000 * 20);
  EXPECT_EQ(fetch("trace.agent.labels.left_out"), (std::map<int, double>{{kAll, without}}));
}

// Each tag has some 200 bytes of labels, and 290 bytes of description.
TEST_F(Labels, OfATagHaveRoomBeforeAnyDescription) {
  auto description = text_of({{"description", std::string(254, 'x')}});
  for (int i = 0; i < kMostTags; ++i)
    shared_.engine.describe(point("b{k=" + std::string(90, 'v') + std::to_string(i) + "}"),
                            description);
  int described = 0;
  for (const auto& [number, json] : labels_of_instances(1)) {
    ASSERT_TRUE(json.starts_with(R"({"tag":"b","k":"vvv)")) << json;
    described += json.ends_with(R"(x"})") ? 1 : 0;
  }
  EXPECT_GT(described, 10'000);
  EXPECT_LT(described, 30'000);
  EXPECT_EQ(fetch("trace.agent.labels.left_out"),
            (std::map<int, double>{{kAll, kMostTags - described}}));
}

TEST_F(Labels, AreAnnouncedWhenTheyChange) {
  EXPECT_FALSE(metrics_.labels_changed());
  point("a");
  EXPECT_TRUE(metrics_.labels_changed());
  EXPECT_FALSE(metrics_.labels_changed());
}

}  // namespace
}  // namespace pcp::trace::agent
