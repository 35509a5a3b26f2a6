// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs the flusher: an Asio loop that waits for the doorbell, the timer and the agent's socket.
// Only this, Connection and AgentOutput use Asio.
//
// Every handler runs while forks wait (harmless/rest_at_fork.hpp). After a lack of memory all waits
// begin again.
//
// Thread: the library's own, made in client.cpp. If that cannot be made, the thread that waits for
// a delivery.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "open/tick_rate.hpp"
#include "process/agent_output.hpp"
#include "process/flusher.hpp"

namespace pcp::trace::client {

class FlusherLoop {
 public:
  FlusherLoop(const FlusherLoop&) = delete;
  FlusherLoop& operator=(const FlusherLoop&) = delete;
  FlusherLoop(const ClientOptions& options, Recorders& recorders, Doorbell& doorbell,
              Deliveries& deliveries, DeliveryCounters& delivered, Outbox::ReadCounters counters);
  ~FlusherLoop();

  // Call before each run: looks at everything once.
  void resume();

  // Works until main has left and no other program thread lives.
  void run();

  // Works until one event was handled. False if none came before `until`.
  bool run_once(Instant until);

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
  Deliveries& deliveries_;
  asio::io_context loop_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;  // keeps the loop waiting
  asio::posix::stream_descriptor bell_;
  asio::steady_timer timer_;
  Outbox outbox_;
  const std::unique_ptr<Mmv> mmv_;
  const std::unique_ptr<Output> output_;
  Flusher flusher_;

  TickRate tick_rate_{named_seconds_per_tick()};
  const bool watches_counter_;

  bool bell_awaited_ = false;
  std::uint64_t timer_set_to_ns_ = kNever;
  bool must_recover_ = false;  // after an exception
  bool has_lost_descriptors_ = false;
};

}  // namespace pcp::trace::client
