// SPDX-License-Identifier: LGPL-2.1-or-later
// Where the flusher delivers what is pending. An output takes entries out of Pending and settles
// each: acknowledged, or given up, which the DeliveryCounters tell apart. It finds the way to where
// it delivers by itself.
//
// Thread: the flusher's.
#pragma once

#include <cerrno>
#include <cstdint>
#include <functional>

namespace pcp::trace::client {

// What a call by name tells if there was no memory for a connection. Not -ENOMEM, which says that
// the call itself is not counted.
inline constexpr int kNoMemoryToConnect = -EAGAIN;

// Gives the monotonic clock's nanoseconds; in a test, those of a clock of its own.
using ReadClock = std::function<std::uint64_t()>;

// A time that does not come.
inline constexpr std::uint64_t kNever = UINT64_MAX;

class Output {
 public:
  // What the output tells its owner. Each may call the output's functions.
  class Listener {
   public:
    // An attempt to get there has ended with an error code, or with 0: it is there.
    virtual void on_attempt_ended(int error) = 0;

    // What was on its way may be pending again, as new entries.
    virtual void on_put_back() = 0;

    // It may take more, or has settled something, or is not there any more.
    virtual void on_change() = 0;

   protected:
    ~Listener() = default;
  };

  virtual ~Output() = default;
  virtual void report_to(Listener& listener) = 0;  // before anything else

  // Takes what was queued in Pending before its entry number `until`, as far as it is there and
  // keeps up.
  virtual void send_pending(std::uint64_t until) = 0;

  // Tells whether all entries before number `until` that it took have been settled.
  virtual bool has_settled(std::uint64_t until) const = 0;

  // Tells whether whoever it delivers to knows what is in flight, or cannot know.
  virtual bool has_told_open() const = 0;

  // Something is to be delivered: goes there, unless it is there already or pauses after a failure.
  virtual void connect() = 0;

  // The process ends: the next connect() comes without a pause. False if that was tried already.
  virtual bool hurry() = 0;

  // Nothing more will come.
  virtual void say_goodbye() = 0;

  // After an exception, which says that there is no memory: begins anew what may be in pieces.
  virtual void recover() = 0;

  // When it wants on_timer() to be called. Earlier, or more often, is fine.
  virtual std::uint64_t next_call_ns() const = 0;
  virtual void on_timer() = 0;
};

}  // namespace pcp::trace::client
