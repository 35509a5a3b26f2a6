// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs the flusher: waits for the doorbell, the agent's socket and the next time. Nothing else of
// the library does that.
//
// It works only while forks wait (platform/forks.hpp). After a lack of memory, and after the
// program has closed our descriptors, it begins anew.
//
// Thread: the library's own, made in client.cpp. If that cannot be made, the thread that waits for
// a delivery.
#pragma once

#include <cstdint>
#include <memory>

#include "base/clock.hpp"
#include "mmv/mmv.hpp"
#include "open/tick_rate.hpp"
#include "platform/own_descriptor.hpp"
#include "process/flusher.hpp"

namespace pcp::trace::client {

// Moves the calling thread to the processors that the process had at load time, and out of real
// time: the thread whose call made it may be bound to a processor or run in real time. Ignores
// errors. Thread: the flusher's.
void run_like_any_thread();

class FlusherThread {
 public:
  FlusherThread(const FlusherThread&) = delete;
  FlusherThread& operator=(const FlusherThread&) = delete;
  FlusherThread(const ClientOptions& options, const Flusher::Shared& shared,
                FlushersDescriptors& descriptors, DeliveryCounters& delivered,
                Outbox::ReadCounters counters);

  // Call before each run: looks at everything once.
  void resume() { must_look_ = true; }

  // Works until main has left and no other program thread lives.
  void run();

  // Works once, after a wait until then at most. False after that time.
  bool run_once(Instant until);

 private:
  struct Ready {
    bool bell;
    bool output;
  };

  void work_or_recover(std::uint64_t until_ns);
  void work(std::uint64_t until_ns);
  Ready wait(std::uint64_t until_ns);
  void on_bell(bool must_look);
  void renew_descriptors();
  void recover();

  Doorbell& doorbell_;
  Deliveries& deliveries_;
  Outbox outbox_;
  const std::unique_ptr<Mmv> mmv_;
  const std::unique_ptr<Output> output_;
  Flusher flusher_;

  TickRate tick_rate_{named_seconds_per_tick()};
  const bool watches_counter_;
  std::uint64_t next_check_ns_ = 0;  // without poll(): pause before the next look at the socket
  bool must_look_ = true;
  bool must_recover_ = false;  // after an exception
};

}  // namespace pcp::trace::client
