// SPDX-License-Identifier: LGPL-2.1-or-later
// Parts of a span as text that programs can parse: words separated by a blank. Bytes that would
// mislead a parser or PCP's tools are \xNN.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pcp::trace::agent {

// 16 or 32 hexadecimal digits, and a NUL.
std::array<char, 17> hex_of(std::uint64_t id);
std::array<char, 33> hex_of(std::uint64_t high, std::uint64_t low);

// Limit for all attributes of a span, as shown.
inline constexpr std::size_t kMostAttributeBytes = 12 * 1024;

// Appends key=value. False without room. A text that looks like a number begins with an escape, to
// distinguish it from a number.
bool append_attribute(std::string& attributes, std::string_view key, std::string_view text);
bool append_attribute(std::string& attributes, std::string_view key, double number);

// Appends "trace-span".
void append_link(std::string& links, std::uint64_t trace_high, std::uint64_t trace_low,
                 std::uint64_t span);

}  // namespace pcp::trace::agent
