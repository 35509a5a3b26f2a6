// SPDX-License-Identifier: LGPL-2.1-or-later
// The promise "cheap": a call writes no cache line that another thread writes.
#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "process/drain.hpp"

namespace pcp::trace::client {
namespace {

constexpr std::size_t kLine = 64;

struct CacheLines : testing::Test {
  RecordQueue queue{0};
  Doorbell doorbell;
  Recorder recorder{queue, doorbell, 64};
  Pending pending;
  const Tag* tag = intern_tag("line");

  // The lines of the recorder that `work` changes.
  template <typename Work>
  std::set<std::size_t> written_by(Work work) {
    std::vector<unsigned char> before(sizeof recorder);
    std::memcpy(before.data(), static_cast<const void*>(&recorder), sizeof recorder);
    work();
    std::set<std::size_t> lines;
    const auto* now = reinterpret_cast<const unsigned char*>(&recorder);
    for (std::size_t i = 0; i < sizeof recorder; ++i)
      if (now[i] != before[i]) lines.insert(i / kLine);
    return lines;
  }
  void record(int calls) {
    for (int i = 0; i < calls; ++i) recorder.record(tag, 1, RecordKind::Observe);
  }
};

TEST_F(CacheLines, OfARecorderAreWrittenByItsOwnerOrByTheFlusher) {
  record(1);
  const auto owner = written_by([&] { record(20); });
  const auto flusher = written_by([&] { Drain(pending).take(recorder, 1); });
  ASSERT_FALSE(owner.empty());
  ASSERT_FALSE(flusher.empty());
  std::vector<std::size_t> shared;
  std::set_intersection(owner.begin(), owner.end(), flusher.begin(), flusher.end(),
                        std::back_inserter(shared));
  EXPECT_EQ(shared, std::vector<std::size_t>{});
}

TEST_F(CacheLines, AreNotSharedByTwoRecorders) {
  EXPECT_EQ(alignof(Recorder) % kLine, 0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&recorder) % kLine, 0u);
  EXPECT_EQ(sizeof(Recorder) % kLine, 0u);
}

}  // namespace
}  // namespace pcp::trace::client
