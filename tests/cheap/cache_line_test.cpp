// SPDX-License-Identifier: LGPL-2.1-or-later
// The promise "cheap": a call writes no cache line that another thread writes, at any address.
#include <iterator>
#include <memory>

#include <gtest/gtest.h>

#include "cheap/memory_snapshot.hpp"
#include "process/flusher.hpp"

namespace pcp::trace::client {
namespace {

using Lines = MemorySnapshot::Lines;

Lines common(const Lines& one, const Lines& other) {
  Lines both;
  std::set_intersection(one.begin(), one.end(), other.begin(), other.end(),
                        std::inserter(both, both.end()));
  return both;
}

struct CacheLines : testing::Test {
  SharedParts shared;
  Doorbell doorbell;
  std::unique_ptr<Recorder> mine = std::make_unique<Recorder>(shared, doorbell, 256);
  std::unique_ptr<Recorder> other = std::make_unique<Recorder>(shared, doorbell, 256);
  Pending pending;
  const Tag* tag = intern_tag("line");

  // As many records as one block of the queue holds.
  void record(Recorder& recorder) {
    for (int i = 0; i < 20; ++i) recorder.record(tag, 1, RecordKind::Observe);
  }
  void drain(Recorder& recorder) { Drain(pending).drain(recorder, 1); }
  void SetUp() override {
    doorbell.renew();
    for (Recorder* each : {mine.get(), other.get()}) record(*each), drain(*each);
  }
};

TEST_F(CacheLines, OfACallAreWrittenByNoOtherCaller) {
  MemorySnapshot memory;
  const Lines by_me = memory.written_by([&] { record(*mine); });
  const Lines by_other = memory.written_by([&] { record(*other); });
  EXPECT_GE(by_me.size(), 1 + 20 * sizeof(Record) / MemorySnapshot::kLine);
  EXPECT_GE(by_other.size(), 1 + 20 * sizeof(Record) / MemorySnapshot::kLine);
  EXPECT_EQ(common(by_me, by_other), Lines{});
}

// Except for one line: the queue keeps its two ends side by side.
TEST_F(CacheLines, OfACallAreNotWrittenByTheFlusher) {
  MemorySnapshot memory;
  const Lines by_me = memory.written_by([&] { record(*mine); });
  const Lines by_flusher = memory.written_by([&] {
    doorbell.prepare_to_sleep();
    drain(*mine);
    doorbell.stay_awake();
  });
  EXPECT_GE(by_flusher.size(), 2u);
  const Lines both = common(by_me, by_flusher);
  EXPECT_LE(both.size(), 1u);
  const auto begin = reinterpret_cast<std::uintptr_t>(mine.get());
  for (const std::uintptr_t line : both)
    EXPECT_TRUE(line < begin || line >= begin + sizeof(Recorder)) << "in the recorder";
}

}  // namespace
}  // namespace pcp::trace::client
