// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared by the encoders and decoders of all messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <protozero/pbf_message.hpp>
#include <protozero/pbf_writer.hpp>

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

// Writes a message's fields. Throws std::bad_alloc where protozero's own pbf_builder, whose
// constructors are noexcept, would end the process.
template <typename Field>
class Message : public protozero::pbf_writer {
  using Writer = protozero::pbf_writer;

 public:
  explicit Message(std::string& out) : Writer(out) {}
  template <typename Outer>
  Message(Message<Outer>& outer, Outer field) : Writer(outer, number(field)) {}

  void add_bool(Field field, bool value) { Writer::add_bool(number(field), value); }
  void add_uint32(Field field, std::uint32_t value) { Writer::add_uint32(number(field), value); }
  void add_uint64(Field field, std::uint64_t value) { Writer::add_uint64(number(field), value); }
  void add_fixed64(Field field, std::uint64_t value) { Writer::add_fixed64(number(field), value); }
  void add_double(Field field, double value) { Writer::add_double(number(field), value); }
  void add_bytes(Field field, std::string_view bytes) {
    Writer::add_bytes(number(field), bytes.data(), bytes.size());
  }
  template <typename Iterator>
  void add_packed_uint32(Field field, Iterator begin, Iterator end) {
    Writer::add_packed_uint32(number(field), begin, end);
  }

 private:
  static protozero::pbf_tag_type number(auto field) {
    return static_cast<protozero::pbf_tag_type>(field);
  }
};

// A missing field means zero.
template <typename Field>
void add_nonzero(Message<Field>& message, Field field, std::uint64_t value) {
  if (value != 0) message.add_uint64(field, value);
}

template <typename Field>
void add_nonempty(Message<Field>& message, Field field, std::string_view bytes) {
  if (!bytes.empty()) message.add_bytes(field, bytes);
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
