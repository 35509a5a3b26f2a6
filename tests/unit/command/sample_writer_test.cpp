// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/sample_writer.hpp"

#include <functional>

#include "unit/command/archive_fixture.hpp"

namespace pcp::trace::command {
namespace {

using Recorded = ArchiveFixture;
using enum SampleWriter::Extent;

INSTANTIATE_TEST_SUITE_P(Versions, Recorded,
                         testing::Values(ArchiveVersion::V2, ArchiveVersion::V3),
                         [](const auto& version) {
                           return version.param == ArchiveVersion::V2 ? "Two" : "Three";
                         });

// Gives the counts and texts that the test has set for each instance.
class FakeAgent : public RecordedAgent {
 public:
  std::map<int, std::uint64_t> counts;
  std::map<int, std::string> shapes;
  Instances names;
  bool is_there = true;
  bool has_new_labels = false;
  int label_requests = 0;

  std::vector<RecordedMetric> metrics() override {
    return {{"trace.count", described(kCount, PM_TYPE_U64)},
            {"trace.shape", described(kShape, PM_TYPE_STRING)}};
  }
  std::string text(unsigned, unsigned) override { return {}; }
  OwnedLabels labels(unsigned type, unsigned) override {
    if (type == PM_LABEL_INSTANCES) ++label_requests;
    return {};
  }
  Instances instances(pmInDom) override { return names; }
  bool labels_changed() override { return std::exchange(has_new_labels, false); }
  Result<Sample> read(std::span<const pmID> metrics, Instant) override {
    if (!is_there) return Error{"gone"};
    reading_ = Reading();
    reading_.add(kCount, {counts.begin(), counts.end()});
    if (metrics.size() > 1) reading_.add(kShape, {shapes.begin(), shapes.end()});
    return reading_.sample();
  }

 private:
  Reading reading_;
};

// Removes the times, which do not matter here.
std::vector<std::string> values_of(const std::vector<std::string>& lines) {
  std::vector<std::string> values;
  for (const std::string& line : lines)
    values.push_back(line.substr(std::min(line.find(' '), line.size())));
  return values;
}

TEST_P(Recorded, WhatGoesOnAsItWasIsNotWrittenAgain) {
  ArchiveWriter writer = create();
  FakeAgent source;
  source.names = {{1, "a"}, {2, "b"}};
  source.counts = {{1, 5}, {2, 7}};
  SampleWriter recorder(source, writer, at(0));
  ASSERT_TRUE(recorder.sample(Changes, at(0), {}));
  source.counts[2] = 8;
  ASSERT_TRUE(recorder.sample(Changes, at(1), {}));
  ASSERT_TRUE(recorder.sample(Changes, at(2), {}));
  source.counts.erase(1);  // instance 1 has no value any more
  ASSERT_TRUE(recorder.sample(Changes, at(3), {}));
  source.counts[1] = 5;
  ASSERT_TRUE(recorder.sample(Changes, at(4), {}));
  ASSERT_TRUE(recorder.sample(Everything, at(5), {}));
  ASSERT_TRUE(writer.finish());
  open();
  EXPECT_EQ(values_of(read_all()),
            (Lines{" 0[1]=5 0[2]=7", " 0[2]=8", "", "", " 0[1]=5", " 0[1]=5 0[2]=8"}));
}

TEST_P(Recorded, DistributionsAreWrittenWhenAskedForAndOnlyWhereSomethingHasHappenedSince) {
  ArchiveWriter writer = create();
  FakeAgent source;
  source.names = {{1, "a"}, {2, "b"}};
  source.counts = {{1, 5}, {2, 7}};
  source.shapes = {{1, "five"}, {2, "seven"}};
  SampleWriter recorder(source, writer, at(0));
  ASSERT_TRUE(recorder.sample(ChangesAndDistributions, at(0), {}));
  source.counts[1] = 6;
  source.shapes[1] = "six";
  ASSERT_TRUE(recorder.sample(Changes, at(1), {}));
  ASSERT_TRUE(recorder.sample(Changes, at(2), {}));
  ASSERT_TRUE(recorder.sample(ChangesAndDistributions, at(3), {}));
  ASSERT_TRUE(recorder.sample(Everything, at(4), {}));
  ASSERT_TRUE(writer.finish());
  open();
  EXPECT_EQ(values_of(read_all()), (Lines{" 0[1]=5 0[2]=7 2[1]=five 2[2]=seven", " 0[1]=6", "",
                                          " 2[1]=six", " 0[1]=6 0[2]=7 2[1]=six 2[2]=seven"}));
}

TEST_P(Recorded, ANumberMayGetAnotherName) {
  ArchiveWriter writer = create();
  FakeAgent source;
  source.names = {{1, "4711 first"}, {2, "4712 other"}};
  source.counts = {{1, 1}, {2, 1}};
  SampleWriter recorder(source, writer, at(0));
  ASSERT_TRUE(recorder.sample(Changes, at(0), {}));
  source.counts.erase(1);
  source.names = {{2, "4712 other"}};
  ASSERT_TRUE(recorder.sample(Changes, at(1), {}));
  source.counts[1] = 1;
  source.names = {{1, "4711 second"}, {2, "4712 other"}};
  ASSERT_TRUE(recorder.sample(Changes, at(2), {}));
  ASSERT_TRUE(writer.finish());
  open();
  EXPECT_EQ(read_all().size(), 3U);
  char* name = nullptr;
  ASSERT_EQ(pmNameInDom(kDomain, 1, &name), 0);
  EXPECT_STREQ(name, "4711 second");
  std::free(name);
}

// The description of a domain is as large as the domain.
TEST_P(Recorded, OfManyInstancesNewOnesAreDescribedNowAndThen) {
  ArchiveWriter writer = create();
  FakeAgent source;
  constexpr int kMany = 1000;  // described at most every ten seconds
  const auto add = [&source](int number) {
    source.names[number] = "tag " + std::to_string(number);
    source.counts[number] = 1;
  };
  for (int number = 1; number <= kMany; ++number) add(number);
  SampleWriter recorder(source, writer, at(0));
  ASSERT_TRUE(recorder.sample(Changes, at(0), {}));
  const bool is_cheap = GetParam() == ArchiveVersion::V3;
  std::string expected;
  for (int second = 1; second <= 10; ++second) {
    add(kMany + second);
    ASSERT_TRUE(recorder.sample(Changes, at(second), {}));
    EXPECT_EQ(source.label_requests, second < 10 ? 1 : 2) << second;
    if (second < 10 && is_cheap) expected = " 0[" + std::to_string(kMany + second) + "]=1";
  }
  add(kMany + 11);
  ASSERT_TRUE(recorder.sample(Everything, at(11), {}));
  EXPECT_EQ(source.label_requests, 3);
  ASSERT_TRUE(writer.finish());
  open();
  const Lines lines = values_of(read_all());
  ASSERT_EQ(lines.size(), 12U);
  EXPECT_EQ(lines[9], expected);
  EXPECT_NE(lines[10].find("0[1010]=1"), std::string::npos);
  EXPECT_EQ(lines[10].find("0[1001]=1") == std::string::npos, is_cheap);
  EXPECT_NE(lines[11].find("0[1011]=1"), std::string::npos);
}

TEST_P(Recorded, LabelsAreWrittenAgainWhenTheyHaveChanged) {
  ArchiveWriter writer = create();
  FakeAgent source;
  source.names = {{1, "a"}};
  source.counts = {{1, 5}};
  SampleWriter recorder(source, writer, at(0));
  ASSERT_TRUE(recorder.sample(Changes, at(0), {}));
  ASSERT_TRUE(recorder.sample(Changes, at(1), {}));
  EXPECT_EQ(source.label_requests, 1);
  source.has_new_labels = true;
  ASSERT_TRUE(recorder.sample(Changes, at(2), {}));
  EXPECT_EQ(source.label_requests, 2);
}

TEST_P(Recorded, AfterAFailureInstancesMayHaveOtherNames) {
  ArchiveWriter writer = create();
  FakeAgent source;
  source.names = {{1, "a"}};
  source.counts = {{1, 5}};
  SampleWriter recorder(source, writer, at(0));
  ASSERT_TRUE(recorder.sample(Changes, at(0), {}));
  source.is_there = false;
  EXPECT_FALSE(recorder.sample(Changes, at(1), {}));
  source.is_there = true;
  source.names = {{1, "b"}};
  ASSERT_TRUE(recorder.sample(Everything, at(2), {}));
  EXPECT_EQ(source.label_requests, 2);
  ASSERT_TRUE(writer.finish());
  open();
  EXPECT_EQ(values_of(read_all()), (Lines{" 0[1]=5", " 0[1]=5"}));
  char* name = nullptr;
  ASSERT_EQ(pmNameInDom(kDomain, 1, &name), 0);
  EXPECT_STREQ(name, "b");
  std::free(name);
}

TEST_P(Recorded, ASourceThatFailsGivesNoSample) {
  ArchiveWriter writer = create();
  FakeAgent source;
  source.names = {{1, "a"}};
  source.counts = {{1, 5}};
  SampleWriter recorder(source, writer, at(0));
  ASSERT_TRUE(recorder.sample(Changes, at(0), {}));
  source.is_there = false;
  EXPECT_FALSE(recorder.sample(Changes, at(1), {}));
  source.is_there = true;
  source.counts[1] = 6;
  writer.add_sample(at(2), {});
  ASSERT_TRUE(recorder.sample(Changes, at(2), {}));
  ASSERT_TRUE(writer.finish());
  open();
  EXPECT_EQ(values_of(read_all()), (Lines{" 0[1]=5", "", " 0[1]=6"}));
}

}  // namespace
}  // namespace pcp::trace::command
