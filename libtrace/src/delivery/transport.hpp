// SPDX-License-Identifier: LGPL-2.1-or-later
// A sender's view of the connection: bytes leave in order, or the connection ends.
//
// Thread: the flusher's.
#pragma once

#include <string_view>

namespace pcp::trace::client {

class Transport {
 public:
  virtual void send(std::string_view bytes) = 0;

 protected:
  ~Transport() = default;
};

}  // namespace pcp::trace::client
