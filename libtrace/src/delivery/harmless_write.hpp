// SPDX-License-Identifier: LGPL-2.1-or-later
// How the library's own words leave: the program gets no signal for them, and does not wait for
// whoever reads them. Thread: any.
#pragma once

#include <string_view>

namespace pcp::trace::client {

// Writes PIPE_BUF bytes at most; false if there was not room for all, or nobody who reads. Changes
// errno.
bool write_harmlessly(int fd, std::string_view text);

}  // namespace pcp::trace::client
