// SPDX-License-Identifier: LGPL-2.1-or-later
// Drives the engine's rotations on the ingest thread, in steps of a few tags, so that no fetch or
// peer waits for all of them.
#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "collector/engine/types.hpp"

namespace pcp::trace::agent {

struct Shared;

class Rotation {
 public:
  Rotation(asio::io_context& io, Shared& shared) : timer_(io), shared_(shared) {}

  void start() { step(); }

 private:
  void step();
  Instant rotate();

  asio::steady_timer timer_;
  Shared& shared_;
  bool freeing_ = false;  // freeing the memory of a reset, step by step
};

}  // namespace pcp::trace::agent
