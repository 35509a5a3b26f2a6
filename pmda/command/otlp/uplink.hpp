// SPDX-License-Identifier: LGPL-2.1-or-later
// Sends one signal's pieces to its server, on a thread of its own, in order and in requests of good
// size. While the server is away, they wait here, up to a limit of memory.
//
// Thread: put() from any; the rest from the main one. The own thread may wait for a silent server:
// it shares ownership of its data, because it may be left behind.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "base/clock.hpp"
#include "command/otlp/endpoint.hpp"
#include "command/otlp/otlp_writer.hpp"

namespace pcp::trace::command::otlp {

// Each item that was put in is in exactly one of the first four, once all is finished.
struct Sent {
  std::uint64_t accepted = 0;
  std::uint64_t rejected = 0;  // left out by the server, which took the rest of the request
  std::uint64_t refused = 0;   // whole requests
  std::uint64_t lost = 0;      // no room, or no answer until the end
  std::uint64_t left_out = 0;  // what pieces left out
  std::uint64_t requests = 0;  // accepted ones
  // Its thread is left behind, in a library that the process's exit() would take down under it.
  bool must_leave_at_once = false;

  bool is_all() const { return rejected == 0 && refused == 0 && lost + left_out == 0; }
};

class Uplink {
 public:
  // While there is no room for more:
  enum class WhenFull {
    DropOldest,
    Wait,  // the source waits; if the server is away for a minute, all is given up, or for ten if
           // it asks for pauses
  };

  // `items`: their name for people, such as "spans".
  Uplink(const Endpoint& endpoint, const char* items, WhenFull when_full);
  Uplink(const Uplink&) = delete;
  Uplink& operator=(const Uplink&) = delete;
  ~Uplink();

  // False if all was given up.
  bool put(Piece piece);

  // Sends what is left, until a time at most. Nothing may be put in afterwards.
  Sent finish(Instant until);

  struct Shared;

 private:
  const std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace pcp::trace::command::otlp
