// SPDX-License-Identifier: LGPL-2.1-or-later
// Bytes as base64 text (RFC 4648): letters, digits, '+' and '/', four characters for three bytes,
// padded with '='.
#pragma once

#include <string>
#include <string_view>

namespace pcp::trace {

// Appends the base64 text of the bytes to `out`.
void encode_base64(std::string_view bytes, std::string& out);

// Appends the decoded bytes to `out`. False if the text is not the only valid encoding of its
// bytes; `out` may have grown nevertheless.
bool decode_base64(std::string_view text, std::string& out);

}  // namespace pcp::trace
