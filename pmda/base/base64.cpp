// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/base64.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace pcp::trace {

namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t kNoDigit = 64;

constexpr std::array<std::uint8_t, 256> values_of_digits() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (std::size_t i = 0; i < kDigits.size(); ++i)
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<std::uint8_t>(i);
  return values;
}

constexpr std::array<std::uint8_t, 256> kValues = values_of_digits();

// Decodes a group of two to four digits. Padding has been removed.
bool decode_group(std::string_view digits, std::string& out) {
  std::uint32_t bits = 0;
  for (const char digit : digits) {
    const std::uint8_t value = kValues[static_cast<unsigned char>(digit)];
    if (value == kNoDigit) return false;
    bits = bits << 6 | value;
  }
  const std::size_t bytes = digits.size() - 1;
  const std::size_t unused = 6 * digits.size() - 8 * bytes;
  if ((bits & ((1U << unused) - 1)) != 0) return false;
  bits >>= unused;
  for (std::size_t i = bytes; i-- > 0;) out += static_cast<char>(bits >> 8 * i);
  return true;
}

}  // namespace

void encode_base64(std::string_view bytes, std::string& out) {
  for (; !bytes.empty(); bytes.remove_prefix(bytes.size() < 3 ? bytes.size() : 3)) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i)
      bits = bits << 8 | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      out += i <= bytes.size() ? kDigits[bits >> (18 - 6 * i) & 63] : '=';
  }
}

bool decode_base64(std::string_view text, std::string& out) {
  if (text.size() % 4 != 0) return false;
  for (; text.size() > 4; text.remove_prefix(4))
    if (!decode_group(text.substr(0, 4), out)) return false;
  if (text.empty()) return true;
  const std::size_t padding = text[3] != '=' ? 0 : text[2] != '=' ? 1 : 2;
  return decode_group(text.substr(0, 4 - padding), out);
}

}  // namespace pcp::trace
