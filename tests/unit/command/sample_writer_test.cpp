// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/record/sample_writer.hpp"

#include <map>
#include <optional>
#include <string>

#include "unit/command/archive_fixture.hpp"
#include "unit/command/text.hpp"

namespace pcp::trace::command {
namespace {

using enum SampleWriter::Extent;

// Gives the counts and texts that the test has set for each instance.
class FakeAgent : public RecordedAgent {
 public:
  std::map<int, std::uint64_t> counts;
  std::map<int, std::string> shapes;
  Instances names;
  bool is_there = true;
  bool begins_now = false;
  bool has_new_labels = false;
  bool says_all = false;
  int label_requests = 0;

  std::vector<RecordedMetric> metrics() override {
    return {{"trace.count", described(kCount, PM_TYPE_U64)},
            {"trace.shape", described(kShapeId, PM_TYPE_STRING)}};
  }
  std::string text(unsigned, unsigned) override { return {}; }
  OwnedLabels labels(unsigned type, unsigned) override {
    if (type == PM_LABEL_INSTANCES) ++label_requests;
    return {};
  }
  Instances instances(pmInDom) override { return names; }
  bool begins_at_zero() const override { return begins_now; }
  bool gives_all_instances() const override { return says_all; }
  bool labels_changed() override { return std::exchange(has_new_labels, false); }
  Result<Sample> read(std::span<const pmID> metrics, Instant) override {
    if (!is_there) return Error{"gone"};
    reading_ = Reading();
    reading_.add(kCount, {counts.begin(), counts.end()});
    if (metrics.size() > 1) reading_.add(kShapeId, {shapes.begin(), shapes.end()});
    return reading_.sample();
  }

 private:
  Reading reading_;
};

class Recorded : public ArchiveFixture {
 protected:
  // Begins with a sample of these instances, named "a", "b" and so on.
  void begin(const std::map<int, std::uint64_t>& counts, SampleWriter::Extent extent = Changes) {
    source.counts = counts;
    for (const auto& [number, count] : counts)
      source.names.emplace(number, std::string(1, static_cast<char>('a' + number - 1)));
    recorder.emplace(source, writer, at(0));
    sample(extent, 0);
  }

  void sample(SampleWriter::Extent extent, int second) {
    EXPECT_EQ(error_of(recorder->sample(extent, at(second), {})), source.is_there ? "" : "gone");
  }
  void fail_to_sample(int second) {
    source.is_there = false;
    sample(Changes, second);
    source.is_there = true;
  }

  // The values of all samples, without the times, which do not matter here.
  Lines written() {
    finish_and_open(writer);
    Lines values = read_all();
    for (std::string& line : values) line.erase(0, line.find(' '));
    return values;
  }

  // How many metrics the first sample has, with values or without.
  int metrics_of_first() {
    finish_and_open(writer);
    pmapi::ArchiveResult* first = nullptr;
    EXPECT_GE(pmapi::fetch_archive(&first), 0);
    const int metrics = first->numpmid;
    pmapi::free_archive_result(first);
    return metrics;
  }

  // Requires: written() was called.
  static std::string name_of_first() {
    char* name = nullptr;
    EXPECT_EQ(pmNameInDom(kDomain, 1, &name), 0);
    return freed(name);
  }

  FakeAgent source;
  ArchiveWriter writer = create();
  std::optional<SampleWriter> recorder;
};

INSTANTIATE_TEST_SUITE_P(Versions, Recorded,
                         testing::Values(ArchiveVersion::V2, ArchiveVersion::V3), version_name);

TEST_P(Recorded, WhatGoesOnAsItWasIsNotWrittenAgain) {
  begin({{1, 5}, {2, 7}});
  source.counts[2] = 8;
  sample(Changes, 1);
  sample(Changes, 2);
  source.counts.erase(1);  // instance 1 has no value any more
  sample(Changes, 3);
  source.counts[1] = 5;
  sample(Changes, 4);
  sample(Everything, 5);
  EXPECT_EQ(written(), (Lines{" 0[1]=5 0[2]=7", " 0[2]=8", "", "", " 0[1]=5", " 0[1]=5 0[2]=8"}));
}

// Otherwise nobody could tell an instance that has gone from one that has not changed.
TEST_P(Recorded, OfAnAgentThatGivesAllInstancesEachSampleHasAll) {
  source.says_all = true;
  begin({{1, 5}, {2, 7}});
  source.counts.erase(1);
  sample(Changes, 1);
  source.counts.clear();
  sample(Changes, 2);  // no mark, which would be one for other agents, too
  EXPECT_EQ(written(), (Lines{" 0[1]=5 0[2]=7", " 0[2]=7", ""}));
}

// PCP's tools show a metric's first record.
TEST_P(Recorded, AnAgentThatBeginsWithTheRecordingNeedNotSayThatItHasNoValues) {
  source.begins_now = true;
  begin({{1, 5}}, ChangesAndDistributions);
  EXPECT_EQ(metrics_of_first(), 1);  // not the distributions
}

TEST_P(Recorded, AnAgentThatWasThereBeforeSaysThatItHasNoValues) {
  begin({{1, 5}}, ChangesAndDistributions);
  EXPECT_EQ(metrics_of_first(), 2);
}

// PCP's tools need two values of a counter for its first rate.
TEST_P(Recorded, CountersOfTagsOfTheFirstIntervalAreZeroAtTheBegin) {
  source.begins_now = true;
  source.names = {{1, "a"}, {2, "b"}};
  begin({});
  source.counts = {{1, 5}};
  sample(ChangesAndDistributions, 1);
  source.counts = {{1, 6}, {2, 7}};
  sample(Changes, 2);
  EXPECT_EQ(written(), (Lines{"", " 0[1]=0", " 0[1]=5", " 0[1]=6 0[2]=7"}));
}

TEST_P(Recorded, DistributionsAreWrittenWhenAskedForAndOnlyWhereSomethingHasHappenedSince) {
  source.shapes = {{1, "five"}, {2, "seven"}};
  begin({{1, 5}, {2, 7}}, ChangesAndDistributions);
  source.counts[1] = 6;
  source.shapes[1] = "six";
  sample(Changes, 1);
  sample(Changes, 2);
  sample(ChangesAndDistributions, 3);
  sample(Everything, 4);
  EXPECT_EQ(written(), (Lines{" 0[1]=5 0[2]=7 2[1]=five 2[2]=seven", " 0[1]=6", "", " 2[1]=six",
                              " 0[1]=6 0[2]=7 2[1]=six 2[2]=seven"}));
}

TEST_P(Recorded, ANumberMayGetAnotherName) {
  begin({{1, 1}, {2, 1}});
  source.counts.erase(1);
  source.names.erase(1);
  sample(Changes, 1);
  source.counts[1] = 1;
  source.names[1] = "second";
  sample(Changes, 2);
  EXPECT_EQ(written().size(), 3U);
  EXPECT_EQ(name_of_first(), "second");
}

// The description of a domain is as large as the domain.
TEST_P(Recorded, OfManyInstancesNewOnesAreDescribedNowAndThen) {
  constexpr int kMany = 1000;  // described at most every ten seconds
  const auto add = [&](int number) {
    source.names[number] = "tag " + std::to_string(number);
    source.counts[number] = 1;
  };
  for (int number = 1; number <= kMany; ++number) add(number);
  begin(source.counts);
  const bool is_cheap = GetParam() == ArchiveVersion::V3;
  std::string expected;
  for (int second = 1; second <= 10; ++second) {
    add(kMany + second);
    sample(Changes, second);
    EXPECT_EQ(source.label_requests, second < 10 ? 1 : 2) << second;
    if (second < 10 && is_cheap) expected = " 0[" + std::to_string(kMany + second) + "]=1";
  }
  add(kMany + 11);
  sample(Everything, 11);
  EXPECT_EQ(source.label_requests, 3);
  const Lines lines = written();
  ASSERT_EQ(lines.size(), 12U);
  EXPECT_EQ(lines[9], expected);
  EXPECT_TRUE(has(lines[10], "0[1010]=1"));
  EXPECT_EQ(lines[10].find("0[1001]=1") == std::string::npos, is_cheap);
  EXPECT_TRUE(has(lines[11], "0[1011]=1"));
}

TEST_P(Recorded, LabelsAreWrittenAgainWhenTheyHaveChanged) {
  begin({{1, 5}});
  sample(Changes, 1);
  EXPECT_EQ(source.label_requests, 1);
  source.has_new_labels = true;
  sample(Changes, 2);
  EXPECT_EQ(source.label_requests, 2);
}

TEST_P(Recorded, AfterAFailureInstancesMayHaveOtherNames) {
  begin({{1, 5}});
  fail_to_sample(1);
  source.names = {{1, "other"}};
  sample(Everything, 2);
  EXPECT_EQ(source.label_requests, 2);
  EXPECT_EQ(written(), (Lines{" 0[1]=5", " 0[1]=5"}));
  EXPECT_EQ(name_of_first(), "other");
}

TEST_P(Recorded, ASourceThatFailsGivesNoSample) {
  begin({{1, 5}});
  fail_to_sample(1);
  source.counts[1] = 6;
  writer.add_sample(at(2), {});
  sample(Changes, 2);
  EXPECT_EQ(written(), (Lines{" 0[1]=5", "", " 0[1]=6"}));
}

}  // namespace
}  // namespace pcp::trace::command
