// SPDX-License-Identifier: LGPL-2.1-or-later
// The PDU format: a 12-byte header, then the payload.
//
//   0        4        8        12
//   | length | type   | pid    | payload, length - 12 bytes
//
// Each header word is a 32-bit big-endian number. The length includes the header; the pid is the
// sender's. FrameReader finds the PDUs in a stream of bytes.
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
  Wanted = 0x7069,
};

inline constexpr std::size_t kHeaderBytes = 12;

// Version in the agent's greeting: a stock agent sends 1, ours 2.
inline constexpr std::uint32_t kLegacyVersion = 1;
inline constexpr std::uint32_t kBatchVersion = 2;

// The largest PDU before a WELCOME allows more, and the least limit in a WELCOME.
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

// Splits a stream of bytes into PDUs. Moves a byte at most once after reading, only to make room
// behind an unfinished PDU. Holds at most one unfinished PDU and the bytes read after it. Thread:
// its connection's.
class FrameReader {
 public:
  explicit FrameReader(std::size_t max_pdu_bytes) : max_pdu_bytes_(max_pdu_bytes) {}

  enum class Status {
    Frame,     // `frame` was filled
    NeedMore,  // the next PDU is not complete yet
    Malformed  // bad length (below 12 or above the limit): the stream is unusable
  };

  // Gives room for at least `bytes` more bytes; commit() tells how many were written.
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

  // Bytes of an unfinished PDU. Requires: next() gave NeedMore.
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
