// SPDX-License-Identifier: LGPL-2.1-or-later
// Keeps a packed histogram for each completed interval of one tag that has values. All are kept in
// one vector of bytes, the oldest first:
//
//   interval, size, packed bytes | interval, size, packed bytes | ...
//
// Most histograms have only a few bytes, so separate allocations would cost more than the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/heap.hpp"

namespace pcp::trace::agent {

class PackedBuckets {
 public:
  // Calls visit(interval, packed) for each interval, from the oldest to the newest.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (std::size_t at = 0; at < records_.size();) {
      const Header header = header_at(at);
      visit(header.interval, packed_at(at));
      at += kHeaderBytes + header.size;
    }
  }

  // Gives the packed histogram of an interval; empty if it has none.
  std::string_view find(std::int64_t interval) const;

  // Sets the packed histogram of an interval.
  void put(std::int64_t interval, std::string_view packed);

  // Forgets the intervals before this one.
  void drop_before(std::int64_t interval);

  std::size_t memory_bytes() const { return heap_bytes(records_.capacity()); }

 private:
  struct Header {
    std::int64_t interval;
    std::uint32_t size;  // bytes of the packed histogram that follows
  };
  static constexpr std::size_t kHeaderBytes = sizeof(std::int64_t) + sizeof(std::uint32_t);

  Header header_at(std::size_t at) const {
    Header header;
    std::memcpy(&header.interval, &records_[at], sizeof header.interval);
    std::memcpy(&header.size, &records_[at + sizeof header.interval], sizeof header.size);
    return header;
  }
  std::string_view packed_at(std::size_t at) const {
    return {records_.data() + at + kHeaderBytes, header_at(at).size};
  }
  std::size_t offset_of(std::int64_t interval) const;
  bool holds(std::size_t at, std::int64_t interval) const {
    return at < records_.size() && header_at(at).interval == interval;
  }

  std::vector<char> records_;
};

}  // namespace pcp::trace::agent
