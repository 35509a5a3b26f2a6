// SPDX-License-Identifier: LGPL-2.1-or-later
// A stream of bytes from a socket: however it is split, the reader cuts it into the same PDUs as
// the whole stream, and holds no more memory than the limit requires.
#include <cstring>
#include <string>

#include "fuzz/input.hpp"
#include "wire/frame.hpp"

using namespace pcp::trace;
using fuzz::Input;
using fuzz::require;

namespace {

using namespace pcp::trace::wire;

// The oracle: takes one PDU off the complete stream.
FrameReader::Status cut(std::string_view& stream, std::size_t max_bytes, std::string_view& pdu) {
  if (stream.size() < 4) return FrameReader::Status::NeedMore;
  const std::size_t length = read_u32(stream);
  if (length < 12 || length > max_bytes) return FrameReader::Status::Malformed;
  if (stream.size() < length) return FrameReader::Status::NeedMore;
  pdu = stream.substr(0, length);
  stream.remove_prefix(length);
  return FrameReader::Status::Frame;
}

}  // namespace

void fuzz::run(Input input) {
  // Small limits and pieces, so that small inputs exceed them. The first PDU may raise the limit,
  // as a HELLO does.
  std::size_t max_bytes = 12 + input.byte();
  const std::size_t raised = max_bytes + input.byte();
  const std::size_t most_piece = 1 + input.byte();
  std::size_t piece = 1 + input.byte();
  std::string_view whole = input.rest();
  std::string_view coming = whole;

  FrameReader reader(max_bytes);
  std::size_t came = 0;
  for (;;) {
    piece = 1 + piece * 7 % most_piece;
    const std::string_view part = coming.substr(0, piece);
    coming.remove_prefix(part.size());
    char* room = reader.prepare(piece);
    if (!part.empty()) std::memcpy(room, part.data(), part.size());
    reader.commit(part.size());
    came += part.size();

    for (;;) {
      Frame frame;
      const FrameReader::Status status = reader.next(frame);
      std::string_view pdu;
      std::string_view arrived = whole.substr(0, came);
      require(status == cut(arrived, max_bytes, pdu));
      if (status == FrameReader::Status::Malformed) return;
      if (status == FrameReader::Status::NeedMore) break;
      std::string again;
      append_frame(again, frame.type, frame.pid, frame.payload);
      require(again == pdu);
      whole.remove_prefix(pdu.size());
      came -= pdu.size();
      max_bytes = raised;
      reader.set_max_pdu_bytes(max_bytes);
    }
    require(reader.pending_bytes() == came);
    require(reader.buffer_bytes() <= raised + 2 * most_piece + 2);
    if (coming.empty()) return;
  }
}
