// SPDX-License-Identifier: LGPL-2.1-or-later
// PCP's own metrics of a host, read from a recording.
#include "command/run/host_values.hpp"

#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "metrics/pmapi.hpp"
#include "unit/command/archive_of_tags.hpp"

namespace pcp::trace::command {
namespace {

const pmID kBytes = pmID_build(60, 0, 1);
const pmID kFree = pmID_build(60, 0, 2);

pmDesc metric(pmID id, int sem, pmInDom domain, const pmUnits& units) {
  pmDesc made = described(id, PM_TYPE_DOUBLE, domain);
  made.sem = sem;
  made.units = units;
  return made;
}

class HostValues : public OfArchives {
 protected:
  // Tags have a sample each second.
  ArchiveOfTags& recording(const ArchiveKind& kind = kOfCommand) {
    return begun("run", kind)
        .host_metric(metric(kBytes, PM_SEM_COUNTER, pmInDom_build(60, 0),
                            pmapi::units(1, 0, 0, PM_SPACE_KBYTE, 0, 0)),
                     "disk.dev.bytes")
        .host_metric(metric(kFree, PM_SEM_INSTANT, PM_INDOM_NULL, pmUnits{}), "mem.free");
  }
};

TEST_F(HostValues, ACounterIsARateInBytesAndAnotherMetricIsAsItIs) {
  recording()
      .host(0, kBytes, {{1, 10.0}})
      .host(0, kFree, {{-1, 7.0}})
      .calls(1, 5)
      .host(1, kBytes, {{1, 12.0}})
      .host(1, kFree, {{-1, 4.0}})
      .calls(4, 9)
      .host(4, kBytes, {{1, 30.0}})
      .host(4, kFree, {{-1, 8.0}});
  const Model read = model();
  EXPECT_EQ(read.run.samples, 3U);  // of tags
  EXPECT_EQ(read.tags.size(), 1U);
  ASSERT_EQ(read.host_values.size(), 2U);
  const HostValue& bytes = read.host_values[0];
  EXPECT_EQ(std::tie(bytes.metric, bytes.instance, bytes.host, bytes.unit),
            std::tuple("disk.dev.bytes", "one", "saturn", "bytes per second"));
  EXPECT_EQ(std::tie(bytes.least, bytes.mean, bytes.greatest, bytes.known_s),
            std::tuple(2048, 5120, 6144, 4));
  EXPECT_EQ(bytes.points, (std::vector<float>{2048, 6144}));
  const HostValue& free = read.host_values[1];
  EXPECT_EQ(std::tie(free.metric, free.instance, free.unit),
            std::tuple("mem.free", std::nullopt, ""));
  EXPECT_EQ(std::tie(free.least, free.mean, free.greatest), std::tuple(4, 7, 8));
}

// Such as a counter that begins anew, an instance that is away, and a host that does not answer.
TEST_F(HostValues, NothingIsKnownOfATimeWithoutValuesAtItsEnds) {
  auto& archive = recording().host(0, kBytes, {{1, 10.0}, {2, 5.0}});
  const auto sample = [&](int second, const std::vector<std::pair<int, Reading::Value>>& values) {
    archive.calls(second, second).host(second, kBytes, values);
  };
  sample(1, {{1, 11.0}, {2, 5.0}});
  sample(2, {{1, 3.0}});
  sample(3, {{1, 4.0}, {2, 9.0}});
  sample(4, {});
  archive.mark(5);
  sample(6, {{1, 8.0}, {2, 9.0}});
  sample(7, {{1, 9.0}, {2, 9.0}});
  const std::vector<HostValue> values = model().host_values;
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(known(values[0].points), (std::vector<float>{1024, -1, 1024, -1, -1, 1024}));
  EXPECT_EQ(known(values[1].points), (std::vector<float>{0, -1, -1, -1, -1, 0}));
  EXPECT_EQ(values[1].known_s, 2);
}

// The trace agent may be away while its host's pmcd answers.
TEST_F(HostValues, AGapOfTheTagsStaysOneThoughTheHostHasValues) {
  recording().calls(1, 5).mark(2).host(3, kFree, {{-1, 1.0}}).host(4, kFree, {{-1, 3.0}});
  archives_.back().say(5, kHasAll).calls(5, 6).calls(6, 7);
  const Model read = model();
  EXPECT_EQ(read.run.samples, 4U);
  ASSERT_EQ(read.run.gaps.size(), 1U);
  EXPECT_EQ(read.run.gaps[0].begin, moment(1));
  EXPECT_EQ(read.run.gaps[0].end, moment(5));
  EXPECT_EQ(read.host_values.at(0).mean, 3);
}

TEST_F(HostValues, AReportOfAPartOfTheRunHasThatPart) {
  auto& archive = recording().host(0, kFree, {{-1, 100.0}});
  for (const int second : {1, 2, 3})
    archive.calls(second, second).host(second, kFree, {{-1, 1.0 * second}});
  const std::vector<HostValue> values = model({"run"}, {moment(1), moment(2)}).host_values;
  EXPECT_EQ(std::tie(values.at(0).least, values.at(0).greatest), std::tuple(2, 2));
}

TEST_F(HostValues, InArchivesOfPmloggerThereAreNone) {
  recording(kPmloggers).host(0, kFree, {{-1, 1.0}}).calls(1, 5).host(1, kFree, {{-1, 2.0}});
  EXPECT_EQ(model().host_values.size(), 0U);
}

TEST_F(HostValues, APageHasTheGreatestInstancesOfTheFirstMetrics) {
  auto& archive = recording();
  std::vector<std::pair<int, Reading::Value>> values;
  for (int i = 1; i <= 10; ++i) values.emplace_back(i, 1.0 * i);
  archive.host(0, kBytes, {}).calls(1, 1).host(1, kBytes, values);
  for (auto& [instance, value] : values) value = 2.0 * instance;
  archive.calls(2, 2).host(2, kBytes, values);
  const std::vector<HostValue> all = model().host_values;
  ASSERT_EQ(all.size(), 10U);
  EXPECT_EQ(all[0].instance, "instance 10");
  EXPECT_FALSE(all[7].points.empty());
  EXPECT_TRUE(all[8].points.empty());
}

TEST(PlainUnit, IsInBytesAndSecondsWhereItCanBe) {
  const auto plain = [](const pmUnits& units, bool is_rate) {
    const PlainUnit made = plain_unit(units, is_rate);
    return std::pair(made.factor, made.words);
  };
  using Plain = std::pair<double, std::string>;
  EXPECT_EQ(plain(pmUnits{}, false), Plain(1, ""));
  EXPECT_EQ(plain(pmapi::units(0, 0, 1, 0, 0, 3), true), Plain(1000, "per second"));
  EXPECT_EQ(plain(pmapi::units(1, 0, 0, PM_SPACE_MBYTE, 0, 0), false), Plain(1048576, "bytes"));
  EXPECT_EQ(plain(pmapi::units(1, -1, 0, PM_SPACE_KBYTE, PM_TIME_SEC, 0), false),
            Plain(1024, "bytes per second"));
  EXPECT_EQ(plain(pmapi::units(0, 1, 0, 0, PM_TIME_MSEC, 0), true),
            Plain(1e-3, "seconds per second"));
  EXPECT_EQ(plain(pmapi::units(0, 1, -1, 0, PM_TIME_MSEC, 0), false), Plain(1e-3, "seconds each"));
  EXPECT_EQ(plain(pmapi::units(2, 0, 0, PM_SPACE_KBYTE, 0, 0), true),
            Plain(1, "Kbyte^2 per second"));
}

}  // namespace
}  // namespace pcp::trace::command
