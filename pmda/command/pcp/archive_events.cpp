// SPDX-License-Identifier: LGPL-2.1-or-later
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "command/pcp/archive_records.hpp"
#include "command/pcp/byte_pieces.hpp"

namespace pcp::trace::command {

namespace {

constexpr std::size_t kWord = 4;

// Copies an array from its front, swapping bytes.
class EventCopy {
 public:
  explicit EventCopy(std::string_view from) : from_(from) {}

  void number(std::size_t bytes) {
    const std::string_view taken = from_.take(bytes);
    if constexpr (std::endian::native == std::endian::big)
      to_ += taken;
    else
      to_.append(taken.rbegin(), taken.rend());
  }
  std::uint32_t word() {
    const auto word = from_.head<std::uint32_t>();
    number(sizeof word);
    return word;
  }
  void bytes(std::size_t count) { to_ += from_.take(count); }

  // Replaces the two bit fields at the front.
  void type_and_length(unsigned type, unsigned length) {
    from_.take(kWord);
    for (const unsigned each : {type, length >> 16, length >> 8, length})
      to_ += static_cast<char>(each & 0xff);
  }

  const BytePieces& rest() const { return from_; }
  std::string result() { return std::move(to_); }

 private:
  BytePieces from_;
  std::string to_;
};

void copy_parameter(EventCopy& copy) {
  const auto head = copy.rest().head<pmEventParameter>();
  copy.word();  // the metric
  copy.type_and_length(head.ep_type, head.ep_len);
  const std::size_t size = std::max<std::size_t>(head.ep_len, PM_VAL_HDR_SIZE) - PM_VAL_HDR_SIZE;
  switch (head.ep_type) {
    case PM_TYPE_32:
    case PM_TYPE_U32:
    case PM_TYPE_FLOAT:
    case PM_TYPE_64:
    case PM_TYPE_U64:
    case PM_TYPE_DOUBLE:
      return copy.number(size);
    default:
      return copy.bytes((size + kWord - 1) / kWord * kWord);
  }
}

void copy_record(EventCopy& copy) {
  copy.word();  // seconds
  copy.word();  // microseconds
  const std::uint32_t flags = copy.word();
  const std::uint32_t count = copy.word();
  if ((flags & PM_EVENT_FLAG_MISSED) != 0) return;
  for (std::uint32_t i = 0; i < count && !copy.rest().has_failed(); ++i) copy_parameter(copy);
}

std::string without_records() {
  EventCopy copy(std::string_view("\0\0\0\0\0\0\0\0", 2 * kWord));
  copy.type_and_length(PM_TYPE_EVENT, 2 * kWord);
  copy.word();
  return copy.result();
}

}  // namespace

std::string archived_events(const pmValueBlock& block) {
  EventCopy copy({reinterpret_cast<const char*>(&block), block.vlen});
  copy.type_and_length(block.vtype, block.vlen);
  const std::uint32_t records = copy.word();
  for (std::uint32_t i = 0; i < records && !copy.rest().has_failed(); ++i) copy_record(copy);
  return copy.rest().has_failed() || !copy.rest().empty() ? without_records() : copy.result();
}

}  // namespace pcp::trace::command
