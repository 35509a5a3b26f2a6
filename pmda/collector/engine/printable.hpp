// SPDX-License-Identifier: LGPL-2.1-or-later
// Text from programs, made fit for PCP's tools, and cut if too long. Unsuitable bytes are written
// as \xNN.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pcp::trace::agent {

// The most bytes of a shown name. Every tag that needs no \xNN fits.
inline constexpr std::size_t kMaxShownBytes = 254;

// Gives valid UTF-8 without control bytes and leading blanks. Text longer than `most` bytes is cut
// between two characters, and ends in "...".
std::string printable(std::string_view text, std::size_t most);

// The same as a JSON string, in quotes. Leading blanks stay; ASCII's control bytes get JSON's
// escapes, which do not count toward `most`.
std::string json_string(std::string_view text, std::size_t most);

}  // namespace pcp::trace::agent
