// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes the library's own messages without signals for the program, and without waiting for a
// reader. Thread: any.
#pragma once

#include <string_view>

namespace pcp::trace::client {

// Writes at most PIPE_BUF bytes; false if there was no room for all, or no reader. Changes errno.
bool write_harmlessly(int fd, std::string_view text);

}  // namespace pcp::trace::client
