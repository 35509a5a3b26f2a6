// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collector/engine/packed_buckets.hpp"

#include <algorithm>

namespace pcp::trace::agent {

// The offset of this interval's record or, if it has none, of the next later record.
std::size_t PackedBuckets::offset_of(std::int64_t interval) const {
  std::size_t at = 0;
  while (at < records_.size() && header_at(at).interval < interval)
    at += kHeaderBytes + header_at(at).size;
  return at;
}

std::string_view PackedBuckets::find(std::int64_t interval) const {
  const std::size_t at = offset_of(interval);
  return holds(at, interval) ? packed_at(at) : std::string_view();
}

void PackedBuckets::put(std::int64_t interval, std::string_view packed) {
  const std::size_t at = offset_of(interval);
  const std::size_t before = holds(at, interval) ? kHeaderBytes + header_at(at).size : 0;
  const std::size_t after = kHeaderBytes + packed.size();
  const std::size_t size = records_.size() - before + after;
  // Not twice the size, as a vector grows by itself: soon each new record replaces the oldest.
  if (size > records_.capacity()) records_.reserve(size + size / 8);
  const auto begin = records_.begin() + static_cast<std::ptrdiff_t>(at);
  if (after > before) {
    records_.insert(begin, after - before, 0);
  } else {
    records_.erase(begin, begin + static_cast<std::ptrdiff_t>(before - after));
  }
  const auto length = static_cast<std::uint32_t>(packed.size());
  char* to = &records_[at];
  std::memcpy(to, &interval, sizeof interval);
  std::memcpy(to + sizeof interval, &length, sizeof length);
  std::copy(packed.begin(), packed.end(), to + kHeaderBytes);
}

void PackedBuckets::drop_before(std::int64_t interval) {
  const auto old = static_cast<std::ptrdiff_t>(offset_of(interval));
  records_.erase(records_.begin(), records_.begin() + old);
  if (records_.size() < records_.capacity() / 2) records_.shrink_to_fit();
}

}  // namespace pcp::trace::agent
