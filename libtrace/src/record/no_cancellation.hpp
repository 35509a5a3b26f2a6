// SPDX-License-Identifier: LGPL-2.1-or-later
// Keeps a pthread_cancel waiting while a call of ours does what would be a cancellation point: a
// thread must not leave in the middle of it.
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
