// SPDX-License-Identifier: LGPL-2.1-or-later
#include "command/pcp/archive_writer.hpp"

#include "command/pcp/archive_records.hpp"
#include "support/error_of.hpp"
#include "support/full_disk.hpp"
#include "unit/command/archive_fixture.hpp"
#include "unit/command/event_arrays.hpp"

namespace pcp::trace::command {
namespace {

using Archive = ArchiveFixture;

INSTANTIATE_TEST_SUITE_P(Versions, Archive, testing::Values(ArchiveVersion::V2, ArchiveVersion::V3),
                         version_name);

TEST_P(Archive, GivesBackWhatWasWritten) {
  ArchiveWriter writer = create_described();
  writer.add_text(PM_TEXT_PMID | PM_TEXT_ONELINE, kCount, "calls");
  writer.add_instances(at(1), kDomain, {{1, "a"}, {7, "with blanks, and \"quotes\""}});
  writer.add_sample(at(1), Reading()
                               .add(kCount, {{1, std::uint64_t{1} << 40}, {7, std::uint64_t{2}}})
                               .add(kRateId, {{1, 0.5F}})
                               .add(kShapeId, {{7, std::string("seven")}})
                               .add(kMean, {{1, 0.25}, {7, -3.5}})
                               .sample());
  writer.add_sample(at(2), Reading().add(kCount, {}).add(kRateId, {{7, 8.0F}}).sample());
  finish_and_open(writer);
  EXPECT_EQ(read_all(), (Lines{"1.123456000 0[1]=1099511627776 0[7]=2 1[1]=0.5 2[7]=seven"
                               " 3[1]=0.25 3[7]=-3.5",
                               "2.123456000 1[7]=8"}));
  char* text = nullptr;
  ASSERT_EQ(pmNameInDomArchive(kDomain, 7, &text), 0);
  EXPECT_EQ(freed(text), "with blanks, and \"quotes\"");
  ASSERT_EQ(pmLookupText(kCount, PM_TEXT_ONELINE, &text), 0);
  EXPECT_EQ(freed(text), "calls");
  pmDesc metric;
  ASSERT_EQ(pmLookupDesc(kRateId, &metric), 0);
  EXPECT_STREQ(pmUnitsStr(&metric.units), "count / sec");
  timespec end;
  ASSERT_EQ(pmapi::get_archive_end(&end), 0);
  EXPECT_EQ(end.tv_sec, at(2).seconds);
}

TEST_P(Archive, GivesInstancesThatComeLaterAllTheirNames) {
  ArchiveWriter writer = create_described();
  for (int second = 1; second <= 5; ++second) {
    writer.add_instances(at(second), kDomain, {{second, "tag " + std::to_string(second)}});
    writer.add_sample(at(second),
                      Reading().add(kCount, {{second, static_cast<std::uint64_t>(1)}}).sample());
  }
  finish_and_open(writer);
  EXPECT_EQ(read_all().size(), 5U);
  int* numbers = nullptr;
  char** names = nullptr;
  ASSERT_EQ(pmGetInDom(kDomain, &numbers, &names), 5);  // at the last sample
  for (int i = 0; i < 5; ++i) EXPECT_EQ(names[i], "tag " + std::to_string(numbers[i]));
  std::free(numbers);
  std::free(names);
}

TEST_P(Archive, GivesTheLabelsOfInstancesThatComeLater) {
  ArchiveWriter writer = create_described();
  char json[] = R"({"tag":"a"})";
  pmLabel label{};
  label.name = 2;
  label.namelen = 3;
  label.value = 7;
  label.valuelen = 3;
  std::vector<pmLabelSet> sets(2);
  for (unsigned i = 0; i < 2; ++i) {
    sets[i].inst = i + 1;
    sets[i].json = json;
    sets[i].jsonlen = sizeof json - 1;
    sets[i].nlabels = 1;
    sets[i].labels = &label;
  }
  writer.add_instances(at(1), kDomain, {{1, "a"}});
  writer.add_labels(at(1), PM_LABEL_INSTANCES, kDomain, std::span(sets).first(1));
  writer.add_sample(at(1), Reading().add(kRateId, {{1, 1.0F}}).sample());
  writer.add_instances(at(2), kDomain, {{2, "a"}});
  writer.add_labels(at(2), PM_LABEL_INSTANCES, kDomain, sets);
  writer.add_sample(at(2), Reading().add(kRateId, {{2, 1.0F}}).sample());
  finish_and_open(writer);
  EXPECT_EQ(read_all().size(), 2U);
  pmLabelSet* found = nullptr;
  ASSERT_EQ(pmGetInstancesLabels(kDomain, &found), 2);
  for (int i = 0; i < 2; ++i) EXPECT_STREQ(found[i].json, json) << i;
  pmFreeLabelSets(found, 2);
}

TEST_P(Archive, GoesOnInANewVolumeWhenOneIsFull) {
  ArchiveWriter writer = create(2000);
  describe(writer);
  writer.add_instances(at(1), kDomain, {{1, "a"}});
  constexpr int kSamples = 100;
  for (int second = 1; second <= kSamples; ++second)
    writer.add_sample(at(second), Reading().add(kShapeId, {{1, std::string(100, 'x')}}).sample());
  ASSERT_TRUE(writer.finish());
  EXPECT_TRUE(std::filesystem::exists(path_ + ".5"));
  for (const auto& file : std::filesystem::directory_iterator(directory_)) {
    if (file.path().extension() != ".index") {
      EXPECT_LE(file.file_size(), 2000U) << file.path();
    }
  }
  open();
  const Lines all = read_all();
  ASSERT_EQ(all.size(), std::size_t{kSamples});
  EXPECT_TRUE(all.back().starts_with(std::to_string(kSamples) + '.'));
}

// The archive has no end, as after a kill.
TEST_P(Archive, CanBeReadAtAnyTime) {
  ArchiveWriter writer = create_described();
  writer.add_instances(at(1), kDomain, {{1, "a"}});
  writer.add_sample(at(1), Reading().add(kRateId, {{1, 1.0F}}).sample());
  open();
  EXPECT_EQ(read_all().size(), 1U);
}

TEST_P(Archive, IsReadableAsFarAsItWentWhenTheDiskIsFull) {
  // With long names metadata fills the disk, with short ones samples do.
  for (const std::size_t letters : {1U, 1000U}) {
    ArchiveWriter writer = create_described(std::to_string(letters));
    int samples = 0;
    const FullDisk disk(20'001);
    for (int second = 1; !writer.failure() && second < 1000; ++second) {
      writer.add_instances(at(second), kDomain,
                           {{second, std::to_string(second) + std::string(letters, 'x')}});
      writer.add_sample(at(second),
                        Reading().add(kShapeId, {{second, std::string(500, 'x')}}).sample());
      if (!writer.failure()) ++samples;
    }
    EXPECT_EQ(error_of(writer.finish()),
              path_ + (letters == 1 ? ".0" : ".meta") + ": File too large");
    open();
    EXPECT_GT(samples, 3);
    EXPECT_EQ(read_all().size(), static_cast<std::size_t>(samples));
  }
}

TEST_P(Archive, SaysAtItsEndWhatBecameOfIt) {
  ArchiveWriter writer = create_described();
  writer.add_sample(at(1), Reading().add(kRateId, {{1, 1.0F}}).sample());
  writer.add_end(kShapeId, "well");
  finish_and_open(writer);
  EXPECT_EQ(read_all().back(), "1.123456000 2[-1]=well");
}

TEST_P(Archive, SaysWhyItEndedInThePlaceOfTheLastSampleWhenTheDiskIsFull) {
  for (const std::size_t letters : {1U, 2U, 3U, 4U, 100U}) {  // in the sample that is overwritten
    ArchiveWriter writer = create_described(std::to_string(letters));
    const FullDisk disk(3'001);
    const std::string text(100 + letters, 'x');
    int samples = 0;
    for (int second = 1; !writer.failure(); ++second, ++samples)
      writer.add_sample(at(second), Reading().add(kShapeId, {{-1, text}}).sample());
    writer.add_end(kShapeId, "well");
    EXPECT_FALSE(writer.finish());
    open();
    const Lines all = read_all();
    EXPECT_EQ(all.size(), static_cast<std::size_t>(samples - 1));  // all but the one that failed
    EXPECT_TRUE(all.back().ends_with(path_ + ".0: File too large")) << all.back();
    EXPECT_TRUE(all.at(all.size() - 2).ends_with("x"));
  }
}

TEST_P(Archive, IsNotWrittenOverAnother) {
  ASSERT_TRUE(create().finish());
  EXPECT_EQ(error_of(ArchiveWriter::create(path_, label())), path_ + ".0: File exists");
}

TEST_P(Archive, GivesBackEventsByteForByte) {
  const MadeEvents events(
      {{"request", 1, 0, 1'800'000'000'123'456'789, 2'000'000, 7, "a=b rows=12"},
       {"a tag of odd length", 2, 1, 1'800'000'000'123'456'790}},
      17);
  const MadeEvents none({});
  ArchiveWriter writer = create();
  writer.add_metric(described_events(), "tracing.events");
  writer.add_sample(at(1), events.sample());
  writer.add_sample(at(2), none.sample());
  finish_and_open(writer);
  for (const MadeEvents* const written : {&events, &none}) {
    pmapi::ArchiveResult* result = nullptr;
    ASSERT_EQ(pmapi::fetch_archive(&result), 0);
    ASSERT_EQ(result->numpmid, 1);
    ASSERT_EQ(result->vset[0]->numval, 1);
    const pmValueBlock& read = *result->vset[0]->vlist[0].value.pval;
    ASSERT_EQ(read.vlen, written->block()->vlen);
    EXPECT_EQ(std::memcmp(&read, written->block(), read.vlen), 0);
    pmapi::free_archive_result(result);
  }
}

// Such arrays may come from a host with a faulty agent.
TEST(EventsThatMakeNoSense, HaveNoRecords) {
  const MadeEvents events({{"request"}});
  const std::size_t length = events.block()->vlen;
  ASSERT_EQ(archived_events(*events.block()).size(), length);
  for (std::size_t cut = 8; cut < length; cut += 4) {
    std::vector<char> bytes(length);
    std::memcpy(bytes.data(), events.block(), length);
    auto* const block = reinterpret_cast<pmValueBlock*>(bytes.data());
    block->vlen = cut & 0xffffff;
    const std::string archived = archived_events(*block);
    EXPECT_EQ(archived.size(), 8U) << cut;
    EXPECT_EQ(archived.substr(4), std::string(4, '\0')) << cut;
  }
}

}  // namespace
}  // namespace pcp::trace::command
