// SPDX-License-Identifier: LGPL-2.1-or-later
// Metrics of an engine that tests fill, with a clock that they set.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "collector/shared.hpp"
#include "metrics/metrics.hpp"

namespace pcp::trace::agent {

class MetricsFixture : public testing::Test {
 protected:
  static constexpr int kDomain = 10;

  // The wall-clock time when the agent starts.
  static constexpr WallTime kWall{std::chrono::hours(500'000)};

  explicit MetricsFixture(std::uint32_t max_tags = 100, std::size_t max_cumulative_bytes = 64 << 20)
      : shared_(engine_options(max_tags, max_cumulative_bytes), {}, now_, kWall) {}

  static EngineOptions engine_options(std::uint32_t max_tags, std::size_t max_cumulative_bytes) {
    EngineOptions options;
    options.period = std::chrono::seconds(10);
    options.buckets = 5;
    options.max_tags = max_tags;
    options.max_cumulative_bytes = max_cumulative_bytes;
    return options;
  }

  void apply(TraceType type, std::string_view tag, double value) {
    shared_.engine.apply_value(shared_.engine.tag(type, tag), value, now_);
  }

  pmID pmid(const std::string& name) const {
    for (const Metric& metric : metrics_.table()) {
      if (name == metric.name) return pmID_build(kDomain, metric.cluster, metric.item);
    }
    ADD_FAILURE() << "no metric " << name;
    return PM_ID_NULL;
  }

  static pmInDom indom(unsigned serial) { return pmInDom_build(kDomain, serial); }

  // Fetches one metric of any numeric type. The key of a value without an instance is PM_IN_NULL.
  std::map<int, double> fetch(const std::string& name, const pmProfile* profile = nullptr) {
    const pmID id = pmid(name);
    const pmapi::AgentResult* const result = metrics_.fetch(&id, 1, profile, now_);
    EXPECT_EQ(result->numpmid, 1);
    std::map<int, double> values;
    const pmValueSet& set = *result->vset[0];
    EXPECT_EQ(set.pmid, id);
    for (int i = 0; i < set.numval; ++i) {
      pmAtomValue atom{};
      EXPECT_EQ(pmExtractValue(set.valfmt, &set.vlist[i], type_of(id), &atom, PM_TYPE_DOUBLE), 0);
      values[set.vlist[i].inst] = atom.d;
    }
    metrics_.release();
    return values;
  }

  // Fetches metrics that are texts.
  using Texts = std::map<int, std::string>;
  std::vector<Texts> fetch_texts(const std::vector<std::string>& names,
                                 const pmProfile* profile = nullptr) {
    std::vector<pmID> ids;
    for (const std::string& name : names) ids.push_back(pmid(name));
    const pmapi::AgentResult* const result = metrics_.fetch(ids.data(), ids.size(), profile, now_);
    std::vector<Texts> texts;
    for (int i = 0; i < result->numpmid; ++i) texts.push_back(texts_of(*result->vset[i]));
    metrics_.release();
    return texts;
  }
  static Texts texts_of(const pmValueSet& set) {
    Texts texts;
    for (int i = 0; i < set.numval; ++i) {
      const pmValueBlock& value = *set.vlist[i].value.pval;
      EXPECT_EQ(value.vtype, PM_TYPE_STRING);
      texts[set.vlist[i].inst] = std::string(value.vbuf, value.vlen - PM_VAL_HDR_SIZE - 1);
    }
    return texts;
  }

  int type_of(pmID id) const {
    for (const Metric& metric : metrics_.table()) {
      if (pmID_build(kDomain, metric.cluster, metric.item) == id) return metric.type();
    }
    return PM_TYPE_UNKNOWN;
  }

  Instant now_{std::chrono::hours(1)};
  Shared shared_;
  Reader reader_{shared_};
  Metrics metrics_{{kDomain, {}, 4323}, reader_, now_};
};

}  // namespace pcp::trace::agent
