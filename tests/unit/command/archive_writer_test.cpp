// SPDX-License-Identifier: LGPL-2.1-or-later
// Archives are read back with PCP's own library.
#include "command/archive_writer.hpp"

#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iomanip>
#include <memory>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace pcp::trace::command {
namespace {

const pmInDom kDomain = pmInDom_build(10, 0);
const pmID kCount = pmID_build(10, 0, 0);
const pmID kRate = pmID_build(10, 0, 1);
const pmID kShape = pmID_build(10, 0, 2);
const pmID kMean = pmID_build(10, 0, 3);

pmDesc described(pmID id, int type, pmInDom domain = kDomain) {
  pmDesc metric{};
  metric.pmid = id;
  metric.type = type;
  metric.indom = domain;
  metric.sem = PM_SEM_COUNTER;
  metric.units.dimTime = -1;
  metric.units.dimCount = 1;
  metric.units.scaleTime = PM_TIME_SEC;
  return metric;
}

// A sample put together by hand.
class Reading {
 public:
  using Value = std::variant<std::int32_t, std::uint64_t, float, double, std::string>;

  Reading& add(pmID metric, const std::vector<std::pair<int, Value>>& values) {
    MetricValues set{metric, PM_VAL_INSITU, {}};
    for (const auto& [instance, value] : values) {
      pmValue entry{};
      entry.inst = instance;
      if (const auto* number = std::get_if<std::int32_t>(&value)) {
        entry.value.lval = *number;
      } else {
        set.format = PM_VAL_DPTR;
        entry.value.pval = block_of(value);
      }
      set.values.push_back(entry);
    }
    sample_.push_back(std::move(set));
    return *this;
  }

  const Sample& sample() const { return sample_; }

 private:
  pmValueBlock* block_of(const Value& value) {
    if (const auto* text = std::get_if<std::string>(&value))
      return block(PM_TYPE_STRING, text->c_str(), text->size() + 1);
    if (const auto* number = std::get_if<std::uint64_t>(&value))
      return block(PM_TYPE_U64, number, sizeof *number);
    if (const auto* number = std::get_if<float>(&value))
      return block(PM_TYPE_FLOAT, number, sizeof *number);
    return block(PM_TYPE_DOUBLE, &std::get<double>(value), sizeof(double));
  }
  pmValueBlock* block(unsigned type, const void* bytes, std::size_t length) {
    auto* made = static_cast<pmValueBlock*>(keep(std::calloc(1, PM_VAL_HDR_SIZE + length)));
    made->vtype = type & 0xff;
    made->vlen = (PM_VAL_HDR_SIZE + length) & 0xffffff;
    std::memcpy(made->vbuf, bytes, length);
    return made;
  }
  void* keep(void* memory) {
    kept_.emplace_back(memory, std::free);
    return memory;
  }

  Sample sample_;
  std::vector<std::unique_ptr<void, void (*)(void*)>> kept_;
};

class Archive : public testing::TestWithParam<ArchiveVersion> {
 protected:
  Archive() {
    std::string name = (std::filesystem::temp_directory_path() / "trace-XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
    path_ = (directory_ / "run").string();
  }
  ~Archive() override {
    if (context_ >= 0) pmDestroyContext(context_);
    std::filesystem::remove_all(directory_);
  }

  ArchiveLabel label() const { return {GetParam(), 4711, at(0), "somewhere", "UTC"}; }
  ArchiveWriter create(std::uint64_t max_volume_bytes = ArchiveWriter::kMaxVolumeBytes) const {
    Result<ArchiveWriter> made = ArchiveWriter::create(path_, label(), max_volume_bytes);
    EXPECT_TRUE(made) << made.error().message;
    return std::move(*made);
  }
  static Stamp at(int second) { return {1'800'000'000 + second, 123'456'000}; }

  static void describe(ArchiveWriter& writer) {
    writer.add_metric(described(kCount, PM_TYPE_U64), "trace.count");
    writer.add_metric(described(kRate, PM_TYPE_FLOAT), "trace.rate");
    writer.add_metric(described(kShape, PM_TYPE_STRING), "trace.shape");
    writer.add_metric(described(kMean, PM_TYPE_DOUBLE), "trace.mean");
  }

  void open() {
    context_ = pmNewContext(PM_CONTEXT_ARCHIVE, path_.c_str());
    ASSERT_GE(context_, 0) << pmErrStr(context_);
    const timeval first{};
    ASSERT_GE(pmSetMode(PM_MODE_FORW, &first, 0), 0);
  }

  // One record of the archive after the other: when, and each value as METRIC[INSTANCE]=VALUE.
  using Lines = std::vector<std::string>;
  static Lines read_all() {
    Lines all;
    pmHighResResult* result = nullptr;
    while (pmFetchHighResArchive(&result) >= 0) {
      if (result->numpmid > 0) all.push_back(shown(*result));
      pmFreeHighResResult(result);
    }
    return all;
  }
  static std::string shown(const pmHighResResult& result) {
    std::ostringstream line;
    line << result.timestamp.tv_sec - at(0).seconds << '.' << result.timestamp.tv_nsec;
    for (int i = 0; i < result.numpmid; ++i) {
      const pmValueSet& set = *result.vset[i];
      for (int j = 0; j < set.numval; ++j)
        line << ' ' << pmID_item(set.pmid) << '[' << set.vlist[j].inst
             << "]=" << shown(set, set.vlist[j]);
    }
    return line.str();
  }
  static std::string shown(const pmValueSet& set, const pmValue& value) {
    pmDesc metric;
    EXPECT_EQ(pmLookupDesc(set.pmid, &metric), 0);
    const int type = metric.type == PM_TYPE_STRING ? PM_TYPE_STRING : PM_TYPE_DOUBLE;
    pmAtomValue found;
    EXPECT_EQ(pmExtractValue(set.valfmt, &value, metric.type, &found, type), 0);
    std::ostringstream text;
    if (type == PM_TYPE_STRING)
      text << std::unique_ptr<char, void (*)(void*)>(found.cp, std::free).get();
    else
      text << std::setprecision(17) << found.d;
    return text.str();
  }

  std::filesystem::path directory_;
  std::string path_;
  int context_ = -1;
};

INSTANTIATE_TEST_SUITE_P(Versions, Archive, testing::Values(ArchiveVersion::V2, ArchiveVersion::V3),
                         [](const auto& version) {
                           return version.param == ArchiveVersion::V2 ? "Two" : "Three";
                         });

TEST_P(Archive, GivesBackWhatWasWritten) {
  ArchiveWriter writer = create();
  describe(writer);
  writer.add_text(PM_TEXT_PMID | PM_TEXT_ONELINE, kCount, "calls");
  writer.add_instances(at(1), kDomain, {{1, "a"}, {7, "with blanks, and \"quotes\""}});
  writer.add_sample(at(1), Reading()
                               .add(kCount, {{1, std::uint64_t{1} << 40}, {7, std::uint64_t{2}}})
                               .add(kRate, {{1, 0.5F}})
                               .add(kShape, {{7, std::string("seven")}})
                               .add(kMean, {{1, 0.25}, {7, -3.5}})
                               .sample());
  writer.add_sample(at(2), Reading().add(kCount, {}).add(kRate, {{7, 8.0F}}).sample());
  const Result<void> finished = writer.finish();
  ASSERT_TRUE(finished) << finished.error().message;

  open();
  EXPECT_EQ(read_all(), (Lines{"1.123456000 0[1]=1099511627776 0[7]=2 1[1]=0.5 2[7]=seven"
                               " 3[1]=0.25 3[7]=-3.5",
                               "2.123456000 1[7]=8"}));
  char* name = nullptr;
  ASSERT_EQ(pmNameInDomArchive(kDomain, 7, &name), 0);
  EXPECT_STREQ(name, "with blanks, and \"quotes\"");
  std::free(name);
  char* text = nullptr;
  ASSERT_EQ(pmLookupText(kCount, PM_TEXT_ONELINE, &text), 0);
  EXPECT_STREQ(text, "calls");
  std::free(text);
  pmDesc metric;
  ASSERT_EQ(pmLookupDesc(kRate, &metric), 0);
  EXPECT_STREQ(pmUnitsStr(&metric.units), "count / sec");
  timespec end;
  ASSERT_EQ(pmGetHighResArchiveEnd(&end), 0);
  EXPECT_EQ(end.tv_sec, at(2).seconds);
}

TEST_P(Archive, GivesInstancesThatComeLaterAllTheirNames) {
  ArchiveWriter writer = create();
  describe(writer);
  for (int second = 1; second <= 5; ++second) {
    writer.add_instances(at(second), kDomain, {{second, "tag " + std::to_string(second)}});
    writer.add_sample(at(second),
                      Reading().add(kCount, {{second, static_cast<std::uint64_t>(1)}}).sample());
  }
  ASSERT_TRUE(writer.finish());
  open();
  EXPECT_EQ(read_all().size(), 5U);
  int* numbers = nullptr;
  char** names = nullptr;
  ASSERT_EQ(pmGetInDom(kDomain, &numbers, &names), 5);  // of the last sample
  for (int i = 0; i < 5; ++i) EXPECT_EQ(names[i], "tag " + std::to_string(numbers[i]));
  std::free(numbers);
  std::free(names);
}

TEST_P(Archive, GivesTheLabelsOfInstancesThatComeLater) {
  ArchiveWriter writer = create();
  describe(writer);
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
  writer.add_sample(at(1), Reading().add(kRate, {{1, 1.0F}}).sample());
  writer.add_instances(at(2), kDomain, {{2, "a"}});
  writer.add_labels(at(2), PM_LABEL_INSTANCES, kDomain, sets);
  writer.add_sample(at(2), Reading().add(kRate, {{2, 1.0F}}).sample());
  ASSERT_TRUE(writer.finish());

  open();
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
    writer.add_sample(at(second), Reading().add(kShape, {{1, std::string(100, 'x')}}).sample());
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

// As after a kill: nobody has finished it.
TEST_P(Archive, CanBeReadAtAnyTime) {
  ArchiveWriter writer = create();
  describe(writer);
  writer.add_instances(at(1), kDomain, {{1, "a"}});
  writer.add_sample(at(1), Reading().add(kRate, {{1, 1.0F}}).sample());
  open();
  EXPECT_EQ(read_all().size(), 1U);
}

// As on a full disk: files cannot become larger than `bytes`.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit full{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &full);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

TEST_P(Archive, IsReadableAsFarAsItWentWhenTheDiskIsFull) {
  for (const std::size_t letters :
       {1U, 1000U}) {  // of names: the metadata fills the disk, or the samples
    path_ = (directory_ / std::to_string(letters)).string();
    ArchiveWriter writer = create();
    describe(writer);
    int samples = 0;
    const FullDisk disk(20'001);
    for (int second = 1; !writer.failure() && second < 1000; ++second) {
      writer.add_instances(at(second), kDomain,
                           {{second, std::to_string(second) + std::string(letters, 'x')}});
      writer.add_sample(at(second),
                        Reading().add(kShape, {{second, std::string(500, 'x')}}).sample());
      if (!writer.failure()) ++samples;
    }
    const Result<void> finished = writer.finish();
    ASSERT_FALSE(finished);
    EXPECT_EQ(finished.error().message,
              path_ + (letters == 1 ? ".0" : ".meta") + ": File too large");
    open();
    EXPECT_GT(samples, 3);
    EXPECT_EQ(read_all().size(), static_cast<std::size_t>(samples));
    pmDestroyContext(std::exchange(context_, -1));
  }
}

TEST_P(Archive, IsNotWrittenOverAnother) {
  ASSERT_TRUE(create().finish());
  const Result<ArchiveWriter> again = ArchiveWriter::create(path_, label());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, path_ + ".0: File exists");
}

}  // namespace
}  // namespace pcp::trace::command
