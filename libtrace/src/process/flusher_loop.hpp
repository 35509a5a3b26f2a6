// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs the flusher: an Asio loop that waits for the doorbell, for the time and for the agent's
// socket, with what the flusher needs. Nothing but this, and what it waits with, knows Asio.
//
// Whatever happens runs while forks wait (fork/rest_at_fork.hpp), and where there is no memory for
// it everything begins anew.
//
// Thread: the library's own, which is made in client.cpp; or, where there can be none, the thread
// that waits for a delivery.
#pragma once

#include <chrono>
#include <cstdint>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "delivery/agent_output.hpp"
#include "process/flusher.hpp"
#include "record/tick_rate.hpp"

namespace pcp::trace::client {

class FlusherLoop {
 public:
  FlusherLoop(const FlusherLoop&) = delete;
  FlusherLoop& operator=(const FlusherLoop&) = delete;
  FlusherLoop(const Options& options, Recorders& recorders, Doorbell& doorbell, Link& link,
              DeliveryCounters& delivered, BatchSender::CountersSource counters);
  ~FlusherLoop();

  // Before the first run and each further one: looks at everything once.
  void resume();

  // Works until main has left and no other thread of the process is there.
  void run();

  // Works until something has happened. False if nothing has until then.
  bool run_once(SteadyTime until);

 private:
  Flusher::Surroundings surroundings();
  template <typename Work>
  bool guarded(Work work);
  void recover();
  void renew_descriptors();

  void listen_to_new_bell();
  void wait_for_bell();
  void remove_bell();
  void on_bell(bool is_urgent);
  void set_timer(std::uint64_t ns);
  void on_timer();

  Doorbell& doorbell_;
  Link& link_;
  asio::io_context loop_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;  // the loop waits for more
  asio::posix::stream_descriptor bell_;
  asio::steady_timer timer_;
  Pending pending_;
  OpenReport open_;
  SpanSender spans_;
  AgentOutput output_;
  Flusher flusher_;

  TickRate tick_rate_;
  const bool watches_counter_;

  bool bell_awaited_ = false;
  std::uint64_t timer_set_to_ns_ = kNever;
  bool must_recover_ = false;  // from what was thrown
  bool has_lost_descriptors_ = false;
};

}  // namespace pcp::trace::client
