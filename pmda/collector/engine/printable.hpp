// SPDX-License-Identifier: LGPL-2.1-or-later
// Text from programs, made fit for PCP's tools, and cut where it is too long. What must not be
// shown is written as \xNN.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pcp::trace::agent {

// The most bytes of a name that are shown: any tag fits that needs no \xNN.
inline constexpr std::size_t kMaxShownBytes = 254;

// Valid UTF-8 without control bytes and leading blanks. Text that takes more than `most` bytes is
// cut between two characters, and ends in "...".
std::string printable(std::string_view text, std::size_t most);

// The same as a string of JSON, in quotes, with its blanks, and with JSON's escapes for ASCII's
// control bytes. These do not count among `most`.
std::string json_string(std::string_view text, std::size_t most);

}  // namespace pcp::trace::agent
