// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared by the encoders and decoders of all messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <protozero/pbf_builder.hpp>
#include <protozero/pbf_message.hpp>

#include "wire/frame.hpp"

namespace pcp::trace::wire {

// Appends a PDU; `fill` writes its payload directly into `out`.
template <typename Fill>
void append_message(std::string& out, PduType type, std::uint32_t pid, Fill fill) {
  const std::size_t start = out.size();
  append_frame(out, type, pid, {});
  fill();
  std::string length;
  append_u32(length, static_cast<std::uint32_t>(out.size() - start));
  out.replace(start, length.size(), length);
}

// A missing field means zero.
template <typename Field>
void add_nonzero(protozero::pbf_builder<Field>& message, Field field, std::uint64_t value) {
  if (value != 0) message.add_uint64(field, value);
}

template <typename Field>
void add_nonempty(protozero::pbf_builder<Field>& message, Field field, std::string_view bytes) {
  if (!bytes.empty()) message.add_bytes(field, bytes.data(), bytes.size());
}

using Type = protozero::pbf_wire_type;
using protozero::tag_and_type;

inline std::string_view view_of(protozero::data_view bytes) { return {bytes.data(), bytes.size()}; }

// Runs a decoder; false if protozero throws for malformed bytes.
template <typename Decode>
bool decodes(Decode decode) {
  try {
    return decode();
  } catch (const protozero::exception&) {
    return false;
  }
}

}  // namespace pcp::trace::wire
