// SPDX-License-Identifier: LGPL-2.1-or-later
// Takes connections from one listening socket. When there are no descriptors left it pauses instead
// of being woken again and again for what it cannot take.
//
// Thread: the ingest thread's.
#pragma once

#include <functional>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "collector/engine/descriptor.hpp"
#include "collector/ingest/peer.hpp"

namespace pcp::trace::agent {

class Acceptor {
 public:
  // `taken` is given each connection and what the kernel says of its peer; the number is its own to
  // set. `trouble` is given an errno, once until connections can be taken again.
  using Taken = std::function<void(Descriptor, Peer)>;
  using Trouble = std::function<void(int)>;

  Acceptor(asio::io_context& io, Descriptor listening, Taken taken, Trouble trouble);

  void start() { wait(); }
  void stop();

  // Takes connections that wait. False if there is a pause because it could not.
  bool take_waiting();

 private:
  void wait();
  void accept();
  void pause(int error);

  asio::posix::stream_descriptor listening_;
  asio::steady_timer timer_;
  Taken taken_;
  Trouble trouble_;
  bool in_trouble_ = false;
};

}  // namespace pcp::trace::agent
