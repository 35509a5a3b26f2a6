// SPDX-License-Identifier: LGPL-2.1-or-later
// How bytes that are better not shown as they are are written: \xNN.
#pragma once

#include <string>

namespace pcp::trace::agent {

inline void append_escaped(std::string& out, char byte) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(byte);
  out += {'\\', 'x', kDigits[value >> 4], kDigits[value & 15]};
}

}  // namespace pcp::trace::agent
