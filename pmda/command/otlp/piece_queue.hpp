// SPDX-License-Identifier: LGPL-2.1-or-later
// Pieces that wait for their server, within a limit of memory.
//
// Thread: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

#include "command/otlp/otlp_writer.hpp"

namespace pcp::trace::command::otlp {

class PieceQueue {
 public:
  static constexpr std::size_t kMostBytes = 64u << 20;
  static constexpr std::size_t kRequestBytes = 2u << 20;  // before compression

  bool is_empty() const { return pieces_.empty(); }
  std::size_t bytes() const { return bytes_; }
  bool lacks_room_for(const Piece& piece) const {
    return !is_empty() && bytes_ + bytes_of(piece) > kMostBytes;
  }

  // Drops the oldest ones while there is no room. Gives the number of their items.
  std::uint64_t push(Piece piece) {
    std::uint64_t dropped = 0;
    while (lacks_room_for(piece)) dropped += pop().items;
    bytes_ += bytes_of(piece);
    pieces_.push_back(std::move(piece));
    return dropped;
  }

  // Takes the oldest ones, as many as make a request of good size.
  Piece take_request() {
    Piece request;
    while (!is_empty() && (request.items == 0 ||
                           request.bytes.size() + pieces_.front().bytes.size() <= kRequestBytes)) {
      const Piece next = pop();
      request.bytes += next.bytes;
      request.items += next.items;
    }
    return request;
  }

  // Gives the number of their items.
  std::uint64_t drop_all() {
    std::uint64_t dropped = 0;
    while (!is_empty()) dropped += pop().items;
    return dropped;
  }

 private:
  // A string may have room for twice its text.
  static std::size_t bytes_of(const Piece& piece) { return sizeof piece + piece.bytes.capacity(); }

  Piece pop() {
    Piece oldest = std::move(pieces_.front());
    pieces_.pop_front();
    bytes_ -= bytes_of(oldest);
    return oldest;
  }

  std::deque<Piece> pieces_;
  std::size_t bytes_ = 0;
};

}  // namespace pcp::trace::command::otlp
