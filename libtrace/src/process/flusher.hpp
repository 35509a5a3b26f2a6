// SPDX-License-Identifier: LGPL-2.1-or-later
// The library's own thread: drains what the program's threads recorded, adds it up per tag, keeps
// the connection and has the senders deliver. Sleeps without a timer while nothing is recorded.
//
// Thread: everything here belongs to the flusher's thread, which is made in client.cpp; or, where
// there can be none, to the thread that waits for a delivery.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "delivery/batch_sender.hpp"
#include "delivery/connection.hpp"
#include "delivery/legacy_sender.hpp"
#include "delivery/pending.hpp"
#include "record/tick_rate.hpp"

namespace pcp::trace::client {

class Client;

class Flusher final : private Connection::Listener {
 public:
  Flusher(const Flusher&) = delete;
  Flusher& operator=(const Flusher&) = delete;
  explicit Flusher(Client& client);
  ~Flusher();

  // Before the first run and each further one: looks at everything once.
  void resume();

  // Works until main has left and no other thread of the process is there.
  void run();

  // Works until something has happened. False if nothing has until then.
  bool run_once(std::chrono::steady_clock::time_point until);

 private:
  void on_greeting(std::uint32_t version) override;
  bool on_pdu(const wire::Frame& pdu) override;
  void on_failure(int error) override;

  // Waking and sleeping.
  void wait_for_bell();
  void on_bell(bool is_urgent);
  void arm_flush_timer(std::chrono::nanoseconds delay);
  void on_flush_timer();
  void fall_asleep();
  void leave_if_last();
  template <typename Work>
  bool guarded(Work work);
  void recover();

  bool drain();  // true if anything was recorded
  void step();
  void on_progress();

  // Connecting.
  void connect_if_needed();
  void hasten_last_attempt();
  std::chrono::nanoseconds next_pause(int error);
  int any_of(int least, int most);
  void arm_reconnect_timer();

  void take_flush_request();
  void settle_flush_request();
  void close_flush_request(bool delivered);
  std::uint64_t doubtful_calls() const;  // that nobody can promise to have been counted

  Client& client_;
  asio::io_context loop_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;  // the loop waits for more
  asio::posix::stream_descriptor bell_;
  asio::steady_timer flush_timer_;
  asio::steady_timer reconnect_timer_;
  asio::steady_timer end_timer_;  // looks whether other threads are left, once main has left
  Pending pending_;
  Connection connection_;
  BatchSender batch_sender_;
  LegacySender legacy_sender_;
  Sender* sender_ = nullptr;  // of the present connection

  TickRate tick_rate_;
  const bool watches_counter_;

  bool has_drained_all_ = true;      // in the last drain()
  std::uint64_t flushed_until_ = 0;  // entries of pending_ that may leave
  bool bell_awaited_ = false;
  bool flush_timer_armed_ = false;
  bool end_timer_armed_ = false;
  bool must_recover_ = false;  // from what was thrown
  int idle_rounds_ = 0;        // flush intervals in a row in which nothing was recorded
  std::chrono::nanoseconds poll_interval_;  // grows while there is nothing to do and no bell

  enum class Phase { Down, Connecting, Up, Waiting } phase_ = Phase::Connecting;
  std::size_t failures_ = 0;  // in a row, of attempts at all endpoints
  std::chrono::steady_clock::time_point next_full_attempt_{};  // until then only at the local one
  bool is_local_attempt_ = false;
  bool may_come_back_ = false;  // nobody was there, so that it is worth looking again soon
  bool hastened_ = false;       // the process ends, and has had its last attempt
  bool ever_connected_ = false;
  std::minstd_rand random_;

  // The flush that somebody waits for.
  struct FlushRequest {
    std::uint64_t ticket;
    std::uint64_t until;     // entries of pending_ that it covers
    std::uint64_t doubtful;  // calls lost from sight before it began
  };
  std::optional<FlushRequest> request_;
};

}  // namespace pcp::trace::client
