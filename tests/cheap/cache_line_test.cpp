// SPDX-License-Identifier: LGPL-2.1-or-later
// The promise "cheap": a call writes no cache line that another thread writes, at any address.
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "process/flusher.hpp"

namespace pcp::trace::client {
namespace {

// A copy of all private writable memory of this process, except its stacks and the copy itself.
// Shows which lines have changed since.
class MemorySnapshot {
 public:
  static constexpr std::size_t kLine = 64;  // bytes in a cache line
  using Lines = std::set<std::uintptr_t>;   // their addresses

  // Takes the regions that exist now; later allocations are left out.
  MemorySnapshot() {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      if (line.find(" rw-p ") == line.npos || line.find("[stack") != line.npos) continue;
      const std::size_t dash = line.find('-');
      const std::uintptr_t begin = std::stoull(line, nullptr, 16);
      const std::uintptr_t end = std::stoull(line.substr(dash + 1), nullptr, 16);
      regions_.push_back({begin, end - begin, bytes_});
      bytes_ += end - begin;
    }
    // Not from the heap, which that would change.
    const std::size_t found = bytes_ / kLine * sizeof(std::uintptr_t);
    copy_ = static_cast<char*>(::mmap(nullptr, bytes_ + found, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    found_ = reinterpret_cast<std::uintptr_t*>(copy_ + bytes_);
  }
  MemorySnapshot(const MemorySnapshot&) = delete;
  MemorySnapshot& operator=(const MemorySnapshot&) = delete;
  ~MemorySnapshot() { ::munmap(copy_, bytes_ + bytes_ / kLine * sizeof(std::uintptr_t)); }

  // The lines that `work` writes with new values.
  template <typename Work>
  Lines written_by(Work work) {
    for (const Region& region : regions_)
      std::memcpy(copy_ + region.offset, reinterpret_cast<const void*>(region.begin), region.bytes);
    work();
    std::size_t count = 0;
    for (const Region& region : regions_)
      for (std::size_t i = 0; i < region.bytes; i += kLine)
        if (std::memcmp(reinterpret_cast<const void*>(region.begin + i), copy_ + region.offset + i,
                        kLine) != 0)
          found_[count++] = region.begin + i;
    return Lines(found_, found_ + count);
  }

 private:
  struct Region {
    std::uintptr_t begin;
    std::size_t bytes;
    std::size_t offset;  // in the copy
  };

  std::vector<Region> regions_;
  std::size_t bytes_ = 0;
  char* copy_;
  std::uintptr_t* found_;
};

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
