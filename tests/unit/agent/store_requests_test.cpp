// SPDX-License-Identifier: LGPL-2.1-or-later
#include "agent/store_requests.hpp"

#include <unistd.h>

#include <cstring>
#include <string>
#include <type_traits>

#include "unit/metrics/metrics_fixture.hpp"

namespace pcp::trace::agent {
namespace {

constexpr int kRoot = 1;  // contexts
constexpr int kStranger = 2;

class StoreTest : public MetricsFixture {
 protected:
  StoreTest() {
    stores_.privileges().note_user(kRoot, "0");
    stores_.privileges().note_user(kStranger, "1000");
    for (const int context : {kRoot, kStranger})
      stores_.privileges().note_process(context, std::to_string(getpid()).c_str());
  }
  ~StoreTest() override { store("trace.agent.debug", "none"); }

  int store(const std::string& metric, int value, int context = kRoot) {
    pmValueSet set{};
    set.pmid = pmid(metric);
    set.numval = 1;
    set.valfmt = PM_VAL_INSITU;
    set.vlist[0].inst = static_cast<int>(PM_IN_NULL);
    set.vlist[0].value.lval = value;
    return store(set, context);
  }

  int store(const std::string& metric, const std::string& value, int context = kRoot) {
    std::vector<char> memory(PM_VAL_HDR_SIZE + value.size() + 1);
    auto* const block = new (memory.data()) pmValueBlock;
    block->vtype = PM_TYPE_STRING;
    block->vlen = memory.size() & PM_VAL_VLEN_MAX;
    std::memcpy(memory.data() + PM_VAL_HDR_SIZE, value.c_str(), value.size() + 1);
    pmValueSet set{};
    set.pmid = pmid(metric);
    set.numval = 1;
    set.valfmt = PM_VAL_DPTR;
    set.vlist[0].value.pval = block;
    return store(set, context);
  }

  int store(pmValueSet& set, int context) {
    pmapi::AgentResult result{};
    result.numpmid = 1;
    result.vset[0] = &set;
    return stores_.store(result, context, now_);
  }

  std::string debug_options() { return fetch_texts({"trace.agent.debug"}).front().begin()->second; }

  Privileges privileges_{{0, 999}};
  SpanMonitors monitors_{shared_.spans, privileges_, "", [](const std::string&) {}};
  StoreRequests stores_{metrics_, privileges_, monitors_,
                        [this](Instant now) { shared_.engine.reset(now); }};
};

TEST_F(StoreTest, OfAnyValueIntoResetForgetsAllTags) {
  apply(TraceType::Point, "a", -1);
  EXPECT_EQ(store("trace.control.reset", 77), 0);
  EXPECT_TRUE(fetch("trace.point.count").empty());
}

TEST_F(StoreTest, IsRefusedToStrangersAndUnknownUsers) {
  apply(TraceType::Point, "a", -1);
  EXPECT_EQ(store("trace.control.reset", 1, kStranger), PM_ERR_PERMISSION);
  EXPECT_EQ(store("trace.control.reset", 1, 99), PM_ERR_PERMISSION);
  EXPECT_EQ(store("trace.control.debug", 1, kStranger), PM_ERR_PERMISSION);
  EXPECT_EQ(store("trace.agent.debug", "pdu", kStranger), PM_ERR_PERMISSION);
  EXPECT_EQ(fetch("trace.point.count").size(), 1);
  EXPECT_EQ(debug_options(), "none");
}

TEST_F(StoreTest, IsRefusedForMetricsThatOnlyTellAndForUnknownOnes) {
  for (const Metric& metric : metrics_.table()) {
    if (metric.store != Store::Refused) continue;
    EXPECT_EQ(store(metric.name, 1), PM_ERR_PERMISSION) << metric.name;
  }
  pmValueSet set{};
  set.pmid = pmID_build(kDomain, 0, 99);
  set.numval = 1;
  EXPECT_EQ(store(set, kRoot), PM_ERR_PMID);
}

TEST_F(StoreTest, ReplacesDebugOptionsByName) {
  EXPECT_EQ(store("trace.agent.debug", "appl0,appl1"), 0);
  EXPECT_EQ(debug_options(), "appl0,appl1");
  EXPECT_TRUE(pmDebugOptions.appl0 && pmDebugOptions.appl1);
  EXPECT_EQ(store("trace.agent.debug", "appl1"), 0);
  EXPECT_FALSE(pmDebugOptions.appl0);
  EXPECT_EQ(store("trace.agent.debug", "appl0,no-such-option"), PM_ERR_CONV);
  EXPECT_EQ(debug_options(), "appl1");
  EXPECT_TRUE(pmDebugOptions.appl1 && !pmDebugOptions.appl0);
  for (const char* const none : {"", "0"}) {
    store("trace.agent.debug", "appl1");
    EXPECT_EQ(store("trace.agent.debug", none), 0);
    EXPECT_EQ(debug_options(), "none");
    EXPECT_FALSE(pmDebugOptions.appl1);
  }
}

// PCP 6 has them as a number.
TEST_F(StoreTest, ReplacesDebugOptionsByNumber) {
  if constexpr (std::is_integral_v<decltype(pmapi::debug_options())>) {
    EXPECT_EQ(store("trace.control.debug", 2048), 0);
    EXPECT_TRUE(pmDebugOptions.appl0);
    EXPECT_EQ(fetch("trace.control.debug").begin()->second, 2048);
    EXPECT_EQ(store("trace.control.debug", 0), 0);
    EXPECT_FALSE(pmDebugOptions.appl0);
    EXPECT_EQ(debug_options(), "none");
  }
}

TEST_F(StoreTest, TakesDebugOptionsAsItShowsThem) {
  EXPECT_EQ(store("trace.agent.debug", "appl0"), 0);
  const pmID id = pmid("trace.control.debug");
  pmValueSet shown = *metrics_.fetch(&id, 1, nullptr, now_)->vset[0];
  EXPECT_EQ(store("trace.agent.debug", "appl1"), 0);
  EXPECT_EQ(store(shown, kRoot), 0);
  EXPECT_TRUE(pmDebugOptions.appl0);
  EXPECT_FALSE(pmDebugOptions.appl1);
}

}  // namespace
}  // namespace pcp::trace::agent
