// SPDX-License-Identifier: LGPL-2.1-or-later
// Delivers pending entries. An output takes entries out of Pending and settles each as acknowledged
// or given up: see DeliveryCounters. It connects by itself.
//
// Thread: the flusher's.
#pragma once

#include <poll.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace pcp::trace::client {

// Result of a call by name without memory for a connection. Not -ENOMEM, which means that the call
// itself is not counted.
inline constexpr int kNoMemoryToConnect = -EAGAIN;

// Gives the monotonic clock's nanoseconds; a test supplies its own clock.
using ReadClock = std::function<std::uint64_t()>;

// A time that never comes.
inline constexpr std::uint64_t kNever = UINT64_MAX;

// Counts of calls by outcome, for pmtrace_stats and the agent. Written by the flusher, read by any
// thread. Released and acquired: a thread that reads them before the recorded calls never sees more
// settled than recorded.
class Count {
 public:
  void operator+=(std::uint64_t n) {  // one writer: no atomic addition needed
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_release);
  }
  operator std::uint64_t() const { return value_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::uint64_t> value_{0};  // released by +=, acquired by whoever reads it
};

struct DeliveryCounters {
  Count sent;           // calls in batches that were sent; each once
  Count acknowledged;   // calls that the agent has counted
  Count uncertain;      // calls sent, maybe counted, maybe not
  Count undeliverable;  // calls whose tag the agent cannot take
  Count thinned;        // values in no histogram
  Count aborted;        // aborted transactions
  Count batches;
  Count reconnects;
  // Calls that may or may not be counted; and all whose delivery is settled.
  std::uint64_t doubtful() const { return uncertain + undeliverable; }
  std::uint64_t settled() const { return acknowledged + doubtful(); }

  std::atomic<bool> connected{false};     // released after the version, acquired before it
  std::atomic<std::uint32_t> version{0};  // of the last connection
};

class Output {
 public:
  // Since the last take_news().
  struct News {
    bool has_connected = false;
    std::optional<int> failure;  // a connection attempt has ended with this error
    bool has_put_back = false;   // entries in flight may be pending again, as new entries
    bool has_changed = false;    // can take more, has settled something, or was disconnected
    bool has_any() const { return has_connected || failure || has_put_back || has_changed; }
  };

  virtual ~Output() = default;
  News take_news() { return std::exchange(news_, {}); }

  // Takes Pending's entries before number `until`, as fast as the connection allows.
  virtual void send_pending(std::uint64_t until) = 0;

  // True if all entries taken before number `until` are settled.
  virtual bool has_settled(std::uint64_t until) const = 0;

  // True if the receiver knows the transactions in flight, or cannot take them.
  virtual bool has_told_open() const = 0;

  // Connects, unless it is connected or pauses after a failure.
  virtual void connect() = 0;

  // The next connect() does not pause. False if that was tried already for this flush.
  virtual bool hurry(std::uint64_t flush) = 0;

  // Sends the process's last message, after everything else was sent. Later calls do nothing until
  // the next connection.
  virtual void say_goodbye() = 0;

  // Restarts what may be inconsistent: call it after an exception for lack of memory, or when the
  // program has closed the descriptor.
  virtual void recover() = 0;

  // The descriptor and its events to poll for; a negative one: none.
  virtual pollfd awaited() const { return {-1, 0, 0}; }
  virtual bool is_lost() const { return false; }  // the program has closed it

  // An event, or the time of next_call_ns(), may have come. Earlier or more often is fine.
  virtual void on_ready() {}
  virtual std::uint64_t next_call_ns() const = 0;
  virtual void on_timer() = 0;

 protected:
  News news_;
};

}  // namespace pcp::trace::client
