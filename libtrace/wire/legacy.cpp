// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wire/legacy.hpp"

#include <bit>
#include <cassert>

#include "wire/frame.hpp"

namespace pcp::trace::wire {

namespace {

constexpr unsigned char kWantsAck = 0x80;
constexpr std::size_t kBytesBeforeTag = 12;
constexpr std::size_t kAckBytes = 4;

std::size_t padded(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

std::size_t data_payload_bytes(std::size_t tag_length) {
  return kBytesBeforeTag + padded(tag_length + 1);
}

}  // namespace

std::size_t data_pdu_bytes(std::size_t tag_length) {
  return kHeaderBytes + data_payload_bytes(tag_length);
}

void append_data(std::string& out, std::uint32_t pid, const LegacyData& data) {
  assert(is_tag(data.tag));
  const std::size_t tag_bytes = data.tag.size() + 1;
  const auto value = std::bit_cast<std::uint64_t>(data.value);
  append_u32(out, static_cast<std::uint32_t>(data_pdu_bytes(data.tag.size())));
  append_u32(out, static_cast<std::uint32_t>(PduType::Data));
  append_u32(out, pid);
  out.push_back(static_cast<char>(kLegacyVersion));
  out.push_back(static_cast<char>(tag_bytes));
  out.push_back(static_cast<char>(data.type));
  out.push_back(static_cast<char>(data.wants_ack ? kWantsAck : 0));
  append_u32(out, static_cast<std::uint32_t>(value >> 32));
  append_u32(out, static_cast<std::uint32_t>(value));
  out.append(data.tag);
  out.push_back('\0');
  out.append(padded(tag_bytes) - tag_bytes, '~');
}

std::optional<LegacyData> decode_data(std::string_view payload) {
  if (payload.size() < kBytesBeforeTag) return std::nullopt;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(payload[i]); };
  const std::size_t tag_bytes = byte(1);
  if (byte(0) != kLegacyVersion || !is_trace_type(byte(2)) || tag_bytes == 0 ||
      payload.size() != data_payload_bytes(tag_bytes - 1)) {
    return std::nullopt;
  }
  LegacyData data;
  data.type = static_cast<TraceType>(byte(2));
  data.wants_ack = (byte(3) & kWantsAck) != 0;
  data.value = std::bit_cast<double>(std::uint64_t{read_u32(payload.substr(4))} << 32 |
                                     read_u32(payload.substr(8)));
  data.tag = payload.substr(kBytesBeforeTag, tag_bytes - 1);
  const bool ends_with_nul = payload[kBytesBeforeTag + tag_bytes - 1] == '\0';
  if (!ends_with_nul || !is_tag(data.tag)) return std::nullopt;
  return data;
}

void append_ack(std::string& out, std::uint32_t pid, std::int32_t code) {
  std::string payload;
  append_u32(payload, static_cast<std::uint32_t>(code));
  append_frame(out, PduType::Ack, pid, payload);
}

std::optional<std::int32_t> decode_ack(std::string_view payload) {
  if (payload.size() != kAckBytes) return std::nullopt;
  return static_cast<std::int32_t>(read_u32(payload));
}

}  // namespace pcp::trace::wire
