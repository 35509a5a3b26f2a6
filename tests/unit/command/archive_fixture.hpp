// SPDX-License-Identifier: LGPL-2.1-or-later
// Archives that a test writes, and reads back with PCP's own library.
#pragma once

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iomanip>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "command/pcp/archive_writer.hpp"
#include "metrics/pmapi.hpp"
#include "support/error_of.hpp"
#include "support/scratch_directory.hpp"

namespace pcp::trace::command {

inline const pmInDom kDomain = pmInDom_build(10, 0);
inline const pmID kCount = pmID_build(10, 0, 0);
inline const pmID kRateId = pmID_build(10, 0, 1);
inline const pmID kShapeId = pmID_build(10, 0, 2);
inline const pmID kMean = pmID_build(10, 0, 3);

inline pmDesc described(pmID id, int type, pmInDom domain = kDomain) {
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

inline std::string version_name(const testing::TestParamInfo<ArchiveVersion>& version) {
  return version.param == ArchiveVersion::V2 ? "Two" : "Three";
}

class ArchiveFixture : public testing::TestWithParam<ArchiveVersion> {
 protected:
  ~ArchiveFixture() override { close(); }

  ArchiveLabel label() const { return {GetParam(), 4711, at(0), "somewhere", "UTC"}; }
  ArchiveWriter create(std::uint64_t max_volume_bytes = ArchiveWriter::kMaxVolumeBytes) const {
    Result<ArchiveWriter> made = ArchiveWriter::create(path_, label(), max_volume_bytes);
    EXPECT_TRUE(made) << made.error().message;
    return std::move(*made);
  }
  static Stamp at(int second) { return {1'800'000'000 + second, 123'456'000}; }

  static void describe(ArchiveWriter& writer) {
    writer.add_metric(described(kCount, PM_TYPE_U64), "trace.count");
    writer.add_metric(described(kRateId, PM_TYPE_FLOAT), "trace.rate");
    writer.add_metric(described(kShapeId, PM_TYPE_STRING), "trace.shape");
    writer.add_metric(described(kMean, PM_TYPE_DOUBLE), "trace.mean");
  }

  ArchiveWriter create_described(const std::string& name = "run") {
    path_ = scratch_ / name;
    ArchiveWriter writer = create();
    describe(writer);
    return writer;
  }

  void finish_and_open(ArchiveWriter& writer) {
    ASSERT_EQ(error_of(writer.finish()), "");
    open();
  }
  void open() {
    close();
    context_ = pmNewContext(PM_CONTEXT_ARCHIVE, path_.c_str());
    ASSERT_GE(context_, 0) << pmErrStr(context_);
    const timespec first{};
    ASSERT_GE(pmapi::set_archive_mode(PM_MODE_FORW, &first, nullptr), 0);
  }

  void close() {
    if (context_ >= 0) pmDestroyContext(std::exchange(context_, -1));
  }

  // A text of PCP's library.
  static std::string freed(char* text) {
    return std::unique_ptr<char, void (*)(void*)>(text, std::free).get();
  }

  // The records of the archive: the time, and each value as METRIC[INSTANCE]=VALUE. "gap" says that
  // nothing is known of the time before the next record.
  using Lines = std::vector<std::string>;
  static Lines read_all() {
    Lines all;
    pmapi::ArchiveResult* result = nullptr;
    while (pmapi::fetch_archive(&result) >= 0) {
      all.push_back(result->numpmid > 0 ? shown(*result) : "gap");
      pmapi::free_archive_result(result);
    }
    return all;
  }
  static std::string shown(const pmapi::ArchiveResult& result) {
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
      text << freed(found.cp);
    else
      text << std::setprecision(17) << found.d;
    return text.str();
  }

  const ScratchDirectory scratch_;
  const std::filesystem::path directory_ = scratch_.path();
  std::string path_ = scratch_ / "run";
  int context_ = -1;
};

}  // namespace pcp::trace::command
