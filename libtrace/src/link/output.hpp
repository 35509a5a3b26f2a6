// SPDX-License-Identifier: LGPL-2.1-or-later
// Delivers pending entries. An output takes entries out of Pending and settles each as acknowledged
// or given up: see DeliveryCounters. It connects by itself.
//
// Thread: the flusher's.
#pragma once

#include <cerrno>
#include <cstdint>
#include <functional>

namespace pcp::trace::client {

// Result of a call by name without memory for a connection. Not -ENOMEM, which means that the call
// itself is not counted.
inline constexpr int kNoMemoryToConnect = -EAGAIN;

// Gives the monotonic clock's nanoseconds; a test supplies its own clock.
using ReadClock = std::function<std::uint64_t()>;

// A time that never comes.
inline constexpr std::uint64_t kNever = UINT64_MAX;

class Output {
 public:
  // Events for the owner, which may call the output's functions inside.
  class Listener {
   public:
    // A connection attempt has ended with an error code; 0: connected.
    virtual void on_attempt_ended(int error) = 0;

    // Entries in flight may be pending again, as new entries.
    virtual void on_put_back() = 0;

    // The output can take more, has settled something, or was disconnected.
    virtual void on_change() = 0;

   protected:
    ~Listener() = default;
  };

  virtual ~Output() = default;
  virtual void report_to(Listener& listener) = 0;  // before anything else

  // Takes Pending's entries before number `until`, as fast as the connection allows.
  virtual void send_pending(std::uint64_t until) = 0;

  // True if all entries taken before number `until` are settled.
  virtual bool has_settled(std::uint64_t until) const = 0;

  // True if the receiver knows the transactions in flight, or cannot take them.
  virtual bool has_told_open() const = 0;

  // Connects, unless it is connected or pauses after a failure.
  virtual void connect() = 0;

  // The process ends: the next connect() does not pause. False if that was tried already.
  virtual bool hurry() = 0;

  // The last message of the process, once all that it has was sent. Later calls do nothing, until
  // the next connection.
  virtual void say_goodbye() = 0;

  // Closes its descriptors; recover() makes new ones.
  virtual void hang_up() {}

  // After an exception for lack of memory: restarts what may be inconsistent.
  virtual void recover() = 0;

  // When to call on_timer(). Earlier or more often is fine.
  virtual std::uint64_t next_call_ns() const = 0;
  virtual void on_timer() = 0;
};

}  // namespace pcp::trace::client
