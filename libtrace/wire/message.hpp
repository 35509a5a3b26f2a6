// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes and reads protobuf messages by their descriptions. A description names each field once:
//
//   template <>
//   struct Description<Label> {
//     static bool fields(auto& field, auto& label) {
//       return field(1, label.name) || field(2, label.value);
//     }
//     static bool is_valid(Label& label);  // optional: what else must be true
//     static bool read(std::string_view payload, Label& label);  // optional: in place of both
//   };
//
// FieldWriter writes a field and returns false, so it visits all of them in this order. FieldReader
// returns true at the field that is next in the payload. The C++ type of a field decides its type
// on the wire. All of it is inlined, so that field numbers are constants.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "wire/frame.hpp"

namespace pcp::trace::wire {

template <typename T>
struct Description;

using FieldNumber = protozero::pbf_tag_type;

template <typename T>
concept Number = std::unsigned_integral<T> || std::is_enum_v<T>;

template <typename T>
concept Text = std::convertible_to<const T&, std::string_view>;

template <typename T>
concept Described = requires {
  sizeof(Description<T>);
};

template <typename T>
concept Repeated = requires(const T& all) {
  Description<std::decay_t<decltype(*all.begin())>>{};
};

// Fields that are encoded already.
struct Encoded {
  std::string_view bytes;
};

template <Described T>
void write_fields(std::string& out, protozero::pbf_writer& message, const T& value);

// Throws std::bad_alloc. protozero's pbf_builder would end the process there.
class FieldWriter {
 public:
  FieldWriter(std::string& out, protozero::pbf_writer& message) : out_(out), message_(message) {}

  // Leaves out a value that equals what a missing field means.
  template <typename T>
  requires Number<T> || Text<T> || std::same_as<T, double>
  [[gnu::always_inline]] bool operator()(FieldNumber number, const T& value,
                                         const std::type_identity_t<T>& missing = {}) {
    return value != missing && always(number, value);
  }
  [[gnu::always_inline]] bool operator()(FieldNumber number, const std::optional<double>& value) {
    return value && always(number, *value);
  }

  template <Number T>
  [[gnu::always_inline]] bool always(FieldNumber number, T value) {
    message_.add_uint64(number, static_cast<std::uint64_t>(value));
    return false;
  }
  [[gnu::always_inline]] bool always(FieldNumber number, double value) {
    message_.add_double(number, value);
    return false;
  }
  [[gnu::always_inline]] bool always(FieldNumber number, std::string_view value) {
    message_.add_bytes(number, value.data(), value.size());
    return false;
  }

  // A number of 8 bytes.
  [[gnu::always_inline]] bool fixed(FieldNumber number, std::uint64_t value) {
    if (value != 0) message_.add_fixed64(number, value);
    return false;
  }
  // An array of bytes.
  template <typename Array>
  bool bytes(FieldNumber number, const Array& value) {
    return always(number, std::string(value.begin(), value.end()));
  }
  // The numbers of the bits that are set.
  template <typename Bits>
  bool bits(FieldNumber number, const Bits& value) {
    protozero::packed_field_uint32 numbers(message_, number);
    for (std::uint32_t bit = 0; bit < value.size(); ++bit)
      if (value[bit]) numbers.add_element(bit);
    return false;
  }

  // Messages.
  template <Described T>
  [[gnu::always_inline]] bool operator()(FieldNumber number, const T& value) {
    protozero::pbf_writer message(message_, number);
    write_fields(out_, message, value);
    return false;
  }
  template <Described T>
  [[gnu::always_inline]] bool operator()(FieldNumber number, const std::optional<T>& value) {
    return value && (*this)(number, *value);
  }
  template <Repeated T>
  [[gnu::always_inline]] bool operator()(FieldNumber number, const T& values) {
    for (const auto& value : values) (*this)(number, value);
    return false;
  }
  [[gnu::always_inline]] bool operator()(FieldNumber, Encoded fields) {
    out_.append(fields.bytes);
    return false;
  }
  // Packs itself to the end of a string, which saves a copy.
  template <typename T>
  requires requires(const T& packs, std::string& out) { packs.pack(out); }
  [[gnu::always_inline]] bool operator()(FieldNumber number, const T* packs) {
    if (packs == nullptr) return false;
    const protozero::pbf_writer bytes(message_, number);
    packs->pack(out_);
    return false;
  }

 private:
  std::string& out_;
  protozero::pbf_writer& message_;  // writes to out_
};

template <Described T>
void write_fields(std::string& out, protozero::pbf_writer& message, const T& value) {
  FieldWriter writer(out, message);
  Description<T>::fields(writer, value);
}

// Writes one field of a message.
template <Described T>
void append_field(std::string& out, FieldNumber number, const T& value) {
  protozero::pbf_writer message(out);
  FieldWriter writer(out, message);
  writer(number, value);
}

// Writes a whole PDU.
template <Described T>
void append_pdu(std::string& out, PduType type, std::uint32_t pid, const T& value) {
  const std::size_t start = out.size();
  append_frame(out, type, pid, {});
  protozero::pbf_writer message(out);
  write_fields(out, message, value);
  std::string length;
  append_u32(length, static_cast<std::uint32_t>(out.size() - start));
  out.replace(start, length.size(), length);
}

template <typename T>
bool read_message(std::string_view payload, T& value);

// Reads the field that is next in a message. Throws protozero's exceptions.
class FieldReader {
 public:
  FieldReader(protozero::pbf_reader& message, bool& is_valid)
      : message_(message), next_(message.tag_and_type()), is_valid_(is_valid) {}

  // A number that is too large for its type becomes the greatest one.
  template <Number T>
  [[gnu::always_inline]] bool operator()(FieldNumber number, T& value,
                                         std::type_identity_t<T> = {}) {
    if (!is_next(number, Wire::varint)) return false;
    const std::uint64_t received = message_.get_uint64();
    if constexpr (std::same_as<T, bool>)
      value = received != 0;
    else if constexpr (std::is_enum_v<T>)
      value = static_cast<T>(limited<std::underlying_type_t<T>>(received));
    else
      value = limited<T>(received);
    return true;
  }
  template <Text T>
  [[gnu::always_inline]] bool operator()(FieldNumber number, T& value) {
    if (!is_next(number, Wire::length_delimited)) return false;
    value = view();
    return true;
  }
  template <typename T>
  requires std::same_as<T, double> || std::same_as<T, std::optional<double>>
  [[gnu::always_inline]] bool operator()(FieldNumber number, T& value) {
    if (!is_next(number, Wire::fixed64)) return false;
    value = message_.get_double();
    return true;
  }
  [[gnu::always_inline]] bool always(FieldNumber number, auto& value) {
    return (*this)(number, value);
  }

  [[gnu::always_inline]] bool fixed(FieldNumber number, std::uint64_t& value) {
    if (!is_next(number, Wire::fixed64)) return false;
    value = message_.get_fixed64();
    return true;
  }
  // Invalid unless the field has as many bytes as the array.
  template <typename Array>
  bool bytes(FieldNumber number, Array& value) {
    if (!is_next(number, Wire::length_delimited)) return false;
    const std::string_view received = view();
    is_valid_ = received.size() == value.size();
    if (is_valid_) std::copy(received.begin(), received.end(), value.begin());
    return true;
  }
  // Packed or one by one: protobuf requires both. Skips numbers without a bit.
  template <typename Bits>
  bool bits(FieldNumber number, Bits& value) {
    const auto set = [&](std::uint64_t bit) {
      if (bit < value.size()) value.set(bit);
    };
    if (is_next(number, Wire::varint)) {
      set(message_.get_uint64());
      return true;
    }
    if (!is_next(number, Wire::length_delimited)) return false;
    for (const std::uint64_t bit : message_.get_packed_uint64()) set(bit);
    return true;
  }

  // Messages.
  template <Described T>
  [[gnu::always_inline]] bool operator()(FieldNumber number, T& value) {
    return read(number, [&]() -> T& { return value; });
  }
  template <Described T>
  [[gnu::always_inline]] bool operator()(FieldNumber number, std::optional<T>& value) {
    return read(number, [&]() -> T& { return value.emplace(); });
  }
  template <Described T>
  [[gnu::always_inline]] bool operator()(FieldNumber number, std::vector<T>& values) {
    return read(number, [&]() -> T& { return values.emplace_back(); });
  }

 private:
  using Wire = protozero::pbf_wire_type;

  bool is_next(FieldNumber number, Wire type) const {
    return next_ == protozero::tag_and_type(number, type);
  }
  std::string_view view() {
    const protozero::data_view bytes = message_.get_view();
    return {bytes.data(), bytes.size()};
  }
  template <typename Target>
  bool read(FieldNumber number, Target target) {
    if (!is_next(number, Wire::length_delimited)) return false;
    is_valid_ = read_message(view(), target());
    return true;
  }
  template <typename T>
  static T limited(std::uint64_t value) {
    return static_cast<T>(std::min<std::uint64_t>(value, std::numeric_limits<T>::max()));
  }

  protozero::pbf_reader& message_;
  const std::uint32_t next_;  // number and type of the field
  bool& is_valid_;            // false after an invalid one
};

// Reads the fields of `value` that are there, and skips those without a description, as protobuf
// requires. False if the message is not valid. Throws protozero's exceptions. Flattened: calls of
// protozero's small functions made decoding a sixth slower.
template <typename Reader, typename T, typename... Besides>
[[gnu::flatten]] bool read_fields(std::string_view payload, T& value, Besides&... for_reader) {
  protozero::pbf_reader message(payload.data(), payload.size());
  bool is_valid = true;
  while (is_valid && message.next()) {
    Reader field(message, is_valid, for_reader...);
    if (!Description<T>::fields(field, value)) message.skip();
  }
  if (!is_valid) return false;
  if constexpr (requires { Description<T>::is_valid(value); })
    return Description<T>::is_valid(value);
  return true;
}

template <typename T>
bool read_message(std::string_view payload, T& value) {
  if constexpr (requires { Description<T>::read(payload, value); })
    return Description<T>::read(payload, value);
  else
    return read_fields<FieldReader>(payload, value);
}

// The same; also false where protozero throws for malformed bytes.
template <typename T>
bool decodes(std::string_view payload, T& value) {
  try {
    return read_message(payload, value);
  } catch (const protozero::exception&) {
    return false;
  }
}

template <typename T>
std::optional<T> decoded(std::string_view payload) {
  std::optional<T> message(std::in_place);
  if (!decodes(payload, *message)) message.reset();
  return message;
}

}  // namespace pcp::trace::wire
