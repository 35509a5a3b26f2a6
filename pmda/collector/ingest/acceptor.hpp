// SPDX-License-Identifier: LGPL-2.1-or-later
// Accepts connections from one listening socket. Without free descriptors the acceptor pauses,
// because the socket would wake it again and again.
//
// Thread: the ingest thread.
#pragma once

#include <functional>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "base/descriptor.hpp"
#include "collector/ingest/peer.hpp"

namespace pcp::trace::agent {

// Lets Asio wait for a descriptor. If it throws, the descriptor is closed; Asio itself leaves it
// open.
asio::posix::stream_descriptor handed_over(asio::io_context& io, Descriptor descriptor);

class Acceptor {
 public:
  // `taken` gets each connection and the kernel's data about its peer; `taken` sets the number.
  // `trouble` gets an errno, only once until connections can be accepted again.
  using Accepted = std::function<void(Descriptor, Peer)>;
  using Trouble = std::function<void(int)>;

  Acceptor(asio::io_context& io, Descriptor listening, Accepted taken, Trouble trouble);

  void start() { wait(); }
  void stop();

  // Accepts the waiting connections. False after an error, which starts a pause. Throws what
  // `trouble` throws.
  bool accept_waiting();

 private:
  void wait();
  void accept();
  void pause(int error);

  asio::posix::stream_descriptor listening_;
  asio::steady_timer timer_;
  Accepted taken_;
  Trouble trouble_;
  bool in_trouble_ = false;
};

}  // namespace pcp::trace::agent
