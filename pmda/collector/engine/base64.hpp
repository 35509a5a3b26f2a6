// SPDX-License-Identifier: LGPL-2.1-or-later
// Bytes as text of letters, digits, '+' and '/', four characters for three bytes, padded with '='
// (RFC 4648).
#pragma once

#include <string>
#include <string_view>

namespace pcp::trace::agent {

// Appends the text of these bytes to `out`.
void encode_base64(std::string_view bytes, std::string& out);

// Appends the bytes of a text to `out`. False if it is none: bytes have one text only. `out` may
// have grown nevertheless.
bool decode_base64(std::string_view text, std::string& out);

}  // namespace pcp::trace::agent
