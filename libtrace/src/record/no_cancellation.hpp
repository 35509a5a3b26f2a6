// SPDX-License-Identifier: LGPL-2.1-or-later
// Delays a pthread_cancel during our system calls that are cancellation points: the thread must not
// end in the middle of a call.
#pragma once

#include <pthread.h>

namespace pcp::trace::client {

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
