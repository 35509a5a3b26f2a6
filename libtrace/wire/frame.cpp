// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wire/frame.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace pcp::trace::wire {

void append_u32(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

void append_frame(std::string& out, PduType type, std::uint32_t pid, std::string_view payload) {
  append_u32(out, static_cast<std::uint32_t>(kHeaderBytes + payload.size()));
  append_u32(out, static_cast<std::uint32_t>(type));
  append_u32(out, pid);
  out.append(payload);
}

char* FrameReader::prepare(std::size_t bytes) {
  if (begin_ == end_) {
    begin_ = end_ = 0;
    // Frees the memory of a large PDU: an idle connection keeps little.
    if (capacity_ > bytes + kLeastMaxPduBytes) {
      buffer_.reset();
      capacity_ = 0;
    }
  }
  if (capacity_ - end_ < bytes) make_room(bytes);
  return buffer_.get() + end_;
}

// Moves the unread bytes to the front. If that is not enough, doubles the buffer (so that a slow
// PDU is not copied for each read), up to the largest PDU's size.
void FrameReader::make_room(std::size_t bytes) {
  const std::size_t unread = end_ - begin_;
  const std::size_t needed = unread + bytes;
  if (needed <= capacity_) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, unread);
  } else {
    const std::size_t capacity = std::max(needed, std::min(2 * capacity_, max_pdu_bytes_ + bytes));
    std::unique_ptr<char[]> larger(new char[capacity]);
    if (unread > 0) std::memcpy(larger.get(), buffer_.get() + begin_, unread);
    buffer_ = std::move(larger);
    capacity_ = capacity;
  }
  begin_ = 0;
  end_ = unread;
}

void FrameReader::commit(std::size_t bytes) {
  assert(bytes <= capacity_ - end_);
  end_ += bytes;
}

}  // namespace pcp::trace::wire
