// SPDX-License-Identifier: LGPL-2.1-or-later
// A copy of all private writable memory of this process, except its stacks and the copy itself.
// Shows which lines have changed since.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace pcp::trace {

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

}  // namespace pcp::trace
