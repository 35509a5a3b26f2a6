// SPDX-License-Identifier: LGPL-2.1-or-later
// Guards that keep a call unnoticed by the program's thread.
#pragma once

#include <pthread.h>

#include <cerrno>

namespace pcp::trace::client {

// Restores errno at its end.
class ErrnoStays {
 public:
  ErrnoStays() = default;
  ~ErrnoStays() { errno = before_; }
  ErrnoStays(const ErrnoStays&) = delete;
  ErrnoStays& operator=(const ErrnoStays&) = delete;

 private:
  const int before_ = errno;
};

// Delays a pthread_cancel during our system calls that are cancellation points: the thread must not
// end in the middle of a call.
class NoCancellation {
 public:
  NoCancellation() { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NoCancellation() { ::pthread_setcancelstate(before_, nullptr); }
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;

 private:
  int before_ = 0;
};

}  // namespace pcp::trace::client
