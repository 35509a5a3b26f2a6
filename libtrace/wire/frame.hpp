// SPDX-License-Identifier: LGPL-2.1-or-later
// PDUs as they travel: a 12-byte header, then the payload.
//
//   0        4        8        12
//   | length | type   | pid    | payload, length - 12 bytes
//
// Each header word is a 32-bit big-endian number; the length includes the header; the pid is the
// sender's. FrameReader cuts a stream into PDUs wherever the transport split it.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace pcp::trace::wire {

enum class PduType : std::uint32_t {
  Ack = 0x7050,
  Data = 0x7051,
  Hello = 0x7060,
  Welcome = 0x7061,
  Tags = 0x7062,
  Batch = 0x7063,
  BatchAck = 0x7064,
  Bye = 0x7065,
  Events = 0x7066,
  Control = 0x7067,
  EventsAck = 0x7068,
};

inline constexpr std::size_t kHeaderBytes = 12;

// What the agent's greeting carries: a stock agent says 1, ours says 2.
inline constexpr std::uint32_t kLegacyVersion = 1;
inline constexpr std::uint32_t kBatchVersion = 2;

// The largest PDU that anybody may send before a WELCOME has said otherwise, and the least that a
// WELCOME may allow.
inline constexpr std::size_t kLeastMaxPduBytes = 64 * 1024;

struct Frame {
  PduType type{};
  std::uint32_t pid = 0;
  std::string_view payload;  // valid until the reader takes in more bytes
};

// Appends a PDU to `out`.
void append_frame(std::string& out, PduType type, std::uint32_t pid, std::string_view payload);

void append_u32(std::string& out, std::uint32_t value);  // big-endian

// Requires: at least 4 bytes.
inline std::uint32_t read_u32(std::string_view bytes) {
  assert(bytes.size() >= 4);
  const auto byte = [&](std::size_t i) {
    return std::uint32_t{static_cast<unsigned char>(bytes[i])};
  };
  return byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
}

// Cuts a stream of bytes into PDUs. A byte is moved at most once after it was read, and only to
// make room behind an unfinished PDU; the buffer holds at most one of those and what was read after
// it. Thread: its connection's.
class FrameReader {
 public:
  explicit FrameReader(std::size_t max_pdu_bytes) : max_pdu_bytes_(max_pdu_bytes) {}

  enum class Status {
    Frame,     // `frame` was filled
    NeedMore,  // the next PDU is not complete yet
    Malformed  // a length that is below 12 or above the limit: the stream cannot be used any more
  };

  // Gives room for at least `bytes` more bytes; commit() says how many were really written there.
  char* prepare(std::size_t bytes);
  void commit(std::size_t bytes);

  Status next(Frame& frame) {
    const std::string_view unread(buffer_.get() + begin_, end_ - begin_);
    if (unread.size() < 4) return Status::NeedMore;
    const std::size_t length = read_u32(unread);
    if (length < kHeaderBytes || length > max_pdu_bytes_) return Status::Malformed;
    if (unread.size() < length) return Status::NeedMore;
    frame.type = PduType{read_u32(unread.substr(4))};
    frame.pid = read_u32(unread.substr(8));
    frame.payload = unread.substr(kHeaderBytes, length - kHeaderBytes);
    begin_ += length;
    return Status::Frame;
  }

  // Tells how many bytes of an unfinished PDU are waiting. Call after next() said NeedMore.
  std::size_t pending_bytes() const { return end_ - begin_; }
  std::size_t buffer_bytes() const { return capacity_; }  // memory held
  void set_max_pdu_bytes(std::size_t bytes) { max_pdu_bytes_ = bytes; }

 private:
  void make_room(std::size_t bytes);

  std::size_t max_pdu_bytes_;
  std::unique_ptr<char[]> buffer_;  // bytes [begin_, end_) are unread
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace pcp::trace::wire
