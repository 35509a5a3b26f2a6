// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes all bytes to a descriptor and gives the error, which streams do not.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string_view>

namespace pcp::trace::agent {

// Gives 0 or the errno.
inline int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return EIO;  // a broken file system: retrying would never end
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace pcp::trace::agent
