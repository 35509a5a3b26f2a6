// SPDX-License-Identifier: LGPL-2.1-or-later
// Restores errno at its end, so the program does not see our changes.
#pragma once

#include <cerrno>

namespace pcp::trace::client {

class ErrnoStays {
 public:
  ErrnoStays() = default;
  ~ErrnoStays() { errno = before_; }
  ErrnoStays(const ErrnoStays&) = delete;
  ErrnoStays& operator=(const ErrnoStays&) = delete;

 private:
  const int before_ = errno;
};

}  // namespace pcp::trace::client
