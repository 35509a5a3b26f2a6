// SPDX-License-Identifier: LGPL-2.1-or-later
// Text from programs, with \xNN for each byte that its reader could misread. Each kind of reader
// has its own rule.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pcp::trace {

// Gives the number of bytes at the front that stay as they are; 0: escape the first byte. Requires:
// the text is not empty.
using EscapeRule = std::size_t (*)(std::string_view text);

// For people and PCP's tools: valid UTF-8 without control characters, and without characters that
// are invisible or change the writing direction.
std::size_t stays_in_name(std::string_view text);

// For a quoted part of a log line: printable ASCII without quotes and backslashes.
std::size_t stays_in_log(std::string_view text);

// For a word in a file that is parsed again: printable ASCII without blanks and backslashes.
std::size_t stays_in_file(std::string_view text);

// Escapes every byte.
std::size_t none_stays(std::string_view text);

// Moves one character from `text` to `out`, or appends its first byte as \xNN.
void take_escaped(std::string_view& text, std::string& out, EscapeRule stays);

std::string escaped(std::string_view text, EscapeRule stays);

// The most bytes of a shown name. Every tag that needs no \xNN fits.
inline constexpr std::size_t kMaxShownBytes = 254;

// Gives text fit for PCP's tools: escaped, without leading blanks. Text longer than `most` bytes is
// cut between two characters, and ends in "...". Requires: `stays` escapes as much.
std::string printable(std::string_view text, std::size_t most, EscapeRule stays = stays_in_name);

// The same as a JSON string, in quotes. Leading blanks stay; ASCII's control bytes get JSON's
// escapes, which do not count toward `most`.
std::string json_string(std::string_view text, std::size_t most);

}  // namespace pcp::trace
