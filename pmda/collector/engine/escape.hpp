// SPDX-License-Identifier: LGPL-2.1-or-later
// Text from programs, with \xNN in place of each byte that its reader had better not meet. Which
// those are depends on the reader: each has a rule here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pcp::trace::agent {

// Gives how many bytes at the front of a text stay as they are, 0 if the first is to be escaped.
// Requires: the text is not empty.
using EscapeRule = std::size_t (*)(std::string_view text);

// PCP's tools: valid UTF-8 without control characters.
std::size_t stays_in_name(std::string_view text);

// JSON, which has escapes of its own for ASCII's control characters.
std::size_t stays_in_label(std::string_view text);

// A line of a log, in quotes: printable ASCII without what could pass for their end.
std::size_t stays_in_log(std::string_view text);

// A word of a file that is read again: printable ASCII but the blank and the backslash.
std::size_t stays_in_file(std::string_view text);

// Takes a character off the front of `text`, and appends it or its first byte's \xNN.
void take_escaped(std::string_view& text, std::string& out, EscapeRule stays);

std::string escaped(std::string_view text, EscapeRule stays);

}  // namespace pcp::trace::agent
