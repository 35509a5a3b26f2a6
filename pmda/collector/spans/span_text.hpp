// SPDX-License-Identifier: LGPL-2.1-or-later
// What of a span is shown as text that programs may take apart again: words with a blank between
// them, in which a byte that would mislead them, or PCP's tools, is \xNN.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pcp::trace::agent {

// 16 and 32 hexadecimal digits, and a NUL.
std::array<char, 17> hex_of(std::uint64_t id);
std::array<char, 33> hex_of(std::uint64_t high, std::uint64_t low);

// Of all attributes of a span, as they are shown.
inline constexpr std::size_t kMostAttributeBytes = 12 * 1024;

// Appends key=value. False if there is no room for it. A text that reads as a number begins with an
// escape, so that it is told from one.
bool append_attribute(std::string& attributes, std::string_view key, std::string_view text);
bool append_attribute(std::string& attributes, std::string_view key, double number);

// Appends trace-span.
void append_link(std::string& links, std::uint64_t trace_high, std::uint64_t trace_low,
                 std::uint64_t span);

}  // namespace pcp::trace::agent
