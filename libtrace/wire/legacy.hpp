// SPDX-License-Identifier: LGPL-2.1-or-later
// Version 1 of the protocol: the PDUs of the stock library and agent.
//
//   DATA payload:  version (1) | tag length with its NUL | type | 0x80 if an ACK is wanted
//                  | value, a big-endian double | tag, its NUL, '~' up to a multiple of four
//   ACK payload:   one big-endian word: on connect the agent's version, later the trace type
//                  (1 to 4) of the DATA that it acknowledges, or a negative error code
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/trace_type.hpp"

namespace pcp::trace::wire {

struct LegacyData {
  TraceType type{};
  bool wants_ack = false;
  double value = 0;
  std::string_view tag;
};

// The value of every point.
inline constexpr double kLegacyPointValue = -1.0;

// Requires: is_tag(data.tag).
void append_data(std::string& out, std::uint32_t pid, const LegacyData& data);
void append_ack(std::string& out, std::uint32_t pid, std::int32_t code);

// Bytes that append_data appends for a tag of this length.
std::size_t data_pdu_bytes(std::size_t tag_length);

// Nothing if the payload is not a DATA or ACK payload.
std::optional<LegacyData> decode_data(std::string_view payload);
std::optional<std::int32_t> decode_ack(std::string_view payload);

}  // namespace pcp::trace::wire
